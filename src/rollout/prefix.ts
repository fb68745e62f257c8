/** The tokens with which the prompts of all groups begin, whatever their environments say after reset. */

import type { ChatMessage, Tool } from '../core/tools'
import type { ChatFormat } from './chat'

/** First characters that glue to the text before them in different ways: letter, blank, newline, digit, accent, sign. */
const PROBES = ['a', ' a', ' ', '\n', '\n\n', '1', '\u0301', '.', "'s", '字']

/**
 * A prefix of the prompt without reset text that almost every reset text leaves as it is; a prompt that begins otherwise is
 * simply prefilled whole. Fixed before any environment answers, so that it does not depend on who answers first.
 */
export function sharedPrefix(chat: ChatFormat, messages: readonly ChatMessage[], tools: readonly Tool[]): number[] {
  let prefix = chat.prompt(messages, tools).ids
  for (const probe of PROBES) {
    const { ids } = chat.prompt(messages, tools, probe)
    const end = prefix.findIndex((id, i) => ids[i] !== id)
    if (end >= 0) prefix = prefix.slice(0, end)
  }
  return prefix
}
