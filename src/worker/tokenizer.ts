/** A repository's tokenizer and chat template, as transformers.js' PreTrainedTokenizer reads them, without the rest of transformers.js. */

import { Template } from '@huggingface/jinja'
import { Tokenizer } from '@huggingface/tokenizers'
import type { ChatTokenizer } from '../rollout/tokens'

type Config = Readonly<Record<string, unknown>>
type Rendering = Parameters<ChatTokenizer['apply_chat_template']>

/** Special tokens that a template may name. */
const NAMED_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'] as const

export class ModelTokenizer implements ChatTokenizer {
  readonly _tokenizer: ChatTokenizer['_tokenizer']
  readonly eos_token: string | null
  private readonly tokens: Record<string, string>
  private readonly own: Tokenizer
  private readonly compiled = new Map<string, Template>()

  /** @param tokenizer tokenizer.json @param config tokenizer_config.json. Throws where they are not such files. */
  constructor(
    tokenizer: object,
    private readonly config: Config,
  ) {
    this.own = new Tokenizer(tokenizer, config)
    this._tokenizer = this.own
    this.tokens = Object.fromEntries(NAMED_TOKENS.flatMap((name) => tokenOf(config, name) ?? []))
    this.eos_token = this.tokens.eos_token ?? null
  }

  encode(text: string, options: { add_special_tokens: false }): number[] {
    return this.own.encode(text, options).ids
  }

  /** Throws where there is no template, or it cannot be read or asks for what it was not given. */
  apply_chat_template(messages: Rendering[0], { tokenize: _, tools, ...options }: Rendering[1]): string {
    const text = this.templateFor(tools !== null)
    const template = this.compiled.get(text) ?? new Template(text)
    this.compiled.set(text, template)
    return template.render({ messages, tools, documents: null, ...this.tokens, ...options })
  }

  /** Of several templates, the one for tools where there are tools. */
  private templateFor(hasTools: boolean): string {
    const { chat_template: given } = this.config
    if (typeof given === 'string' && given !== '') return given
    const named = new Map(Array.isArray(given) ? given.map(({ name, template }: { name: unknown; template: unknown }) => [name, template]) : [])
    const found = (hasTools ? named.get('tool_use') : undefined) ?? named.get('default')
    if (typeof found === 'string') return found
    throw new Error(given ? `Of its chat templates (${[...named.keys()].join(', ')}) none is the default.` : 'It has no chat template.')
  }
}

/** [name, its text], where the config names one: as text, or as an AddedToken. */
function tokenOf(config: Config, name: string): [[string, string]] | null {
  const value = config[name]
  if (typeof value === 'string' && value !== '') return [[name, value]]
  if (typeof value !== 'object' || value === null) return null
  const { content } = value as { content?: unknown }
  if (typeof content !== 'string') throw new Error(`Its ${name} is no token.`)
  return [[name, content]]
}
