/** README.md of the folder: what is in it, how it is started on one device, on several, on the Hub, with vLLM, and what differs from the page. */

import { datasetLabel } from '../../core/dataset'
import { singleSpecs } from '../../core/environment-spec'
import { rewardNames } from '../../core/reward-funcs'
import type { RunRecord, StepSummary } from '../../core/run-record'
import { processesFor } from './accelerate'
import type { ServerOf } from './environment-files'
import { networkPart, rolloutPart, rolloutRow } from './javascript'
import { code, plainText } from './markdown'
import { fileRows, mixPart, serversPart, writtenPart } from './readme-environment'
import { PACKAGES, VLLM } from './versions'

const meanOf = (values: readonly number[]): string => (values.reduce((sum, each) => sum + each, 0) / values.length).toFixed(3)

/** What the page measured last, where the folder goes on; functions that are left out here are in it, and told. */
function lastSeen({ config, environment }: RunRecord, history: readonly StepSummary[]): string {
  const recent = history.slice(-5)
  const rewards = recent.flatMap(({ metrics }) => metrics['reward'] ?? [])
  if (rewards.length === 0) return ''
  const seen = ` The mean reward of the page’s last ${rewards.length === 1 ? 'step' : `${rewards.length} steps`} was ${meanOf(rewards)}`
  const stubs = config.grpo.reward_funcs.flatMap((func) => (func.name === 'custom' ? [code(func.called)] : []))
  if (stubs.length === 0) return `${seen}: the first rewards here should be like it.`
  // Of several environments, a mean is over the episodes of some.
  const rest = config.environment.kind === 'mix' ? [] : recent.flatMap(({ metrics }) => restOf(config.grpo, environment.name, metrics) ?? [])
  const without = rest.length === rewards.length ? `; without ${stubs.length === 1 ? 'it' : 'them'} ${meanOf(rest)}, which the first rewards here should be like` : ''
  return `${seen}, with ${stubs.join(' and ')}, which ${stubs.length === 1 ? 'is a STUB' : 'are STUBs'} here and left out${without}.`
}

/** A step's mean reward without the functions that are JavaScript; null where one of the others was not measured. */
function restOf({ reward_funcs, reward_weights }: RunRecord['config']['grpo'], environment: string, metrics: StepSummary['metrics']): number | null {
  const parts = rewardNames(reward_funcs, environment).flatMap((name, i) => {
    const mean = metrics[`rewards/${name}/mean`]
    return reward_funcs[i]?.name === 'custom' ? [] : [typeof mean === 'number' ? mean * (reward_weights?.[i] ?? 1) : null]
  })
  return parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0)
}

export interface ReadmeFacts {
  history: readonly StepSummary[]
  servers: readonly ServerOf[]
  adapter: boolean
  base: boolean
  start: boolean
}

/** The text of README.md. Throws nothing. */
export function readme(run: RunRecord, { history, servers, adapter, base, start }: ReadmeFacts): string {
  const { config, environment } = run
  const { grpo } = config
  const rows = config.environment.kind === 'prompts' ? config.environment.dataset : null
  const isMix = config.environment.kind === 'mix'
  const label = environment.dataset ? datasetLabel(environment.dataset) : environment.name
  const episodes = grpo.prompts_per_step * grpo.num_generations
  const processes = processesFor(episodes)
  const evaluates = grpo.eval_strategy !== 'no'
  const model = base ? 'base/' : config.model
  return `# ${plainText(run.name)}, continued in TRL

This folder goes on with a run of GRPO Playground after its step ${run.step}, with TRL's GRPOTrainer: ${rows ? `the same dataset (${code(label)}),\nreward functions and settings,` : `the same ${isMix ? 'environments' : 'environment'} (${code(environment.name)}),\nprompts, tools, rewards and settings,`} and the ${adapter ? 'trained LoRA' : 'trained model'} as the start.${lastSeen(run, history)}

| file | what it is |
|---|---|
| train.py | the trainer with the run's settings |
${fileRows(run)}| accelerate/ | settings for one GPU and for several |
| requirements.txt, requirements-vllm.txt | exact versions |
${rolloutRow(config)}${adapter ? '| adapter/ | the LoRA in PEFT’s format |\n' : ''}${base ? '| base/ | the model that it belongs to |\n' : ''}${start ? '| start/ | the LoRA that the run began with, which the KL term compares with |\n' : ''}
Search for \`STUB\` in the Python files: each marks something that does not translate, with the reason. No mark, nothing left out.
${writtenPart(run)}${isMix ? mixPart(run) : ''}${serversPart(servers, episodes)}${rolloutPart(config)}${networkPart(config)}
## One machine

\`\`\`sh
python -m venv .venv && . .venv/bin/activate
pip install -r requirements.txt
accelerate launch --config_file accelerate/single_gpu.yaml train.py --report-to trackio   # pip install trackio; or leave it out
python train.py --steps 2                                                                  # a trial, also without a GPU
\`\`\`
${base ? `\nWhen the adapter is saved, PEFT may warn twice that it finds no config file in ${code(config.model)}: the Hub does not have this model, which is base/ here. Nothing is lost by it.\n` : ''}
## Several GPUs

\`\`\`sh
accelerate launch --config_file accelerate/multi_gpu.yaml --num_processes ${processes} train.py
\`\`\`

A step is the same on any number of devices: ${grpo.prompts_per_step} × ${grpo.num_generations} = ${episodes} episodes, so the number of processes must divide ${episodes}.
Larger groups or more prompts a step are what a larger machine is good for: NUM_GENERATIONS and PROMPTS_PER_STEP in train.py.

## vLLM

\`\`\`sh
pip install -r requirements-vllm.txt
# On the training GPUs:
accelerate launch --config_file accelerate/multi_gpu.yaml --num_processes ${processes} train.py --vllm colocate
# Or on GPUs of its own:
CUDA_VISIBLE_DEVICES=0 trl vllm-serve --model ${shellWord(model)} --port 8001 --logprobs-mode processed_logprobs
CUDA_VISIBLE_DEVICES=1,2 accelerate launch --config_file accelerate/multi_gpu.yaml --num_processes ${Math.min(2, processes)} train.py --vllm server --vllm-url http://localhost:8001
\`\`\`

vLLM ${VLLM} is not the newest that TRL ${PACKAGES['trl']} takes: later ones want an older transformers or another mcp than OpenEnv's client. With vLLM, TRL weighs each episode by
how far sampler and trainer disagree (vllm_importance_sampling_correction); the page does not. This way of sampling is the one thing in this folder that was not tried before it was
written: vLLM needs a GPU.

## Hugging Face Jobs

\`\`\`sh
hf auth login
hf jobs uv run --flavor a10g-small --timeout 2h --secrets HF_TOKEN -v .:/folder train.py --folder /folder --output-dir /tmp/run --hub-model-id YOU/NAME
\`\`\`

\`-v .:/folder\` copies this folder to a bucket of yours and mounts it; the trained adapter goes to the private repository YOU/NAME.
${servers.length > 0 ? 'A job reaches no server on your own machine: give the address of a Space or another public server with `--environment-url`.\n' : ''}\`hf jobs hardware\` lists the flavors. With vLLM: \`--with vllm==${VLLM}\` before train.py and \`--vllm colocate\` after it.

## Where TRL does otherwise than the page

${rows ? '' : `* **Done.** TRL knows no end of an episode. Here a tool answers with more text than fits the budget when the environment is done; TRL leaves such a result out and ends the
  episode after the model's own last token, as the page does. The number of tool results shown in TRL's print-out is therefore one less than the calls made.
* **Rounds.** After the last of ${grpo.max_tool_calling_iterations} rounds TRL lets the model write another turn, whose calls are not made but whose tokens are trained on.
* **Malformed calls** end an episode in TRL (the turn counts as a plain answer); the page tells the model what is wrong and lets it go on. Calls of a tool that does not exist get
  TRL's words instead of the page's.
`}* **Random numbers.** ${rows ? 'Rows come in an order of TRL’s own' : `Environment seeds are the page's (steps from ${run.step + 1} on)`}; tokens are drawn by PyTorch, so episodes differ from those that the page would have sampled.
${evaluates && !rows ? '* **Evaluations** are of the page’s scenarios, each played once. TRL draws their tokens as in training, and logs an eval_loss that the page has not.\n' : ''}${grpo.max_staleness > 0 ? `* **Sampling ahead.** The page sampled a batch while the one before was trained on (max_staleness ${grpo.max_staleness}). GRPOTrainer samples after every update; AsyncGRPOTrainer has this setting, and needs a vLLM server.\n` : ''}${grpo.dynamic_sampling ? '* **Dynamic sampling.** Groups without a signal are not sampled again.\n' : ''}* **Optimizer and schedule** begin anew: AdamW's moments and the learning rate's schedule are not carried over.
${isMix && singleSpecs(config.environment).some(({ kind }) => kind === 'prompts') ? '* **Prompts without an environment** get one answer on the page. In TRL a tool call in such an answer is told that there is no such tool, and the model goes on.\n' : ''}${rows ? '' : `* **Speed.** TRL steps environments one after another and reads the whole conversation anew at every turn, unless vLLM caches it.
* ${code('trainer._env_tools')} in train.py is not part of TRL's public interface: it makes the prompt word for word the page's. Check it when you take another version of TRL.
`}`
}

/** A word of a shell command; texts that a shell would read are quoted. */
function shellWord(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
