/** train.py: GRPOTrainer with the run's settings, its adapter as the start, and its environment. */

import type { GrpoConfig, RunConfig } from '../../core/config'
import { singleSpecs } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import { mixParts } from './mix-parts'
import { promptParts, withoutEnvironmentReward } from './prompt-parts'
import { limitImports, rewardImports, rewardLines, toldStubs, unjudged } from './rewards'
import { type EvaluationParts, evaluationParts } from './evaluation'
import { rolloutComment } from './javascript'
import { comment, docstring, py, pyString } from './python'
import { type Member, membersOf } from './members'
import { grpoSettings, settingLines } from './settings'
import { playedParts, type TaskParts } from './task-parts'
import { requirements } from './versions'
import type { WrittenFacts } from './written-class'

export interface TrainScriptFacts {
  /** Whether adapter/, base/ and start/ are in the folder. */
  adapter: boolean
  base: boolean
  start: boolean
  /** Of each environment of the run that is a class of the page. */
  written: readonly (WrittenFacts | null)[]
}

/** The text of train.py. */
export function trainScript(run: RunRecord, { adapter, base, start, written }: TrainScriptFacts): string {
  const { step } = run
  const rows = promptParts(run)
  const members = membersOf(run)
  const config = rows ? withoutEnvironmentReward(run.config) : run.config
  const { grpo } = config
  const task = rows ?? mixParts(run, members) ?? playedParts(config, written[0] ?? null)
  const reference = referenceLines(run, adapter, start)
  const evaluation = task.evaluated ? evaluationParts(config, updatesOf(grpo), task.evaluated) : rowsEvaluated(grpo)
  const head = [
    '# /// script',
    '# requires-python = ">=3.11"',
    `# dependencies = ${py(requirements(run.config)).split('\n').join('\n# ')}`,
    '# ///',
    docstring(`Goes on in TRL with the run ${run.name.replaceAll(/\s+/g, ' ')} of GRPO Playground, after its step ${step}. How to start it: README.md.`, 0),
    '',
    'from __future__ import annotations',
    '',
    'import argparse',
    'import os',
    'import sys',
    ...(rows ? [] : ['from importlib.resources import files']),
    'from pathlib import Path',
    'from typing import Any',
    '',
    'import torch',
    'from datasets import Dataset',
    ...(adapter ? [`from peft import ${reference.includes('    set_peft') ? 'PeftModel, load_peft_weights, set_peft_model_state_dict' : 'PeftModel'}`] : []),
    `from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer${grpo.target_reward === null ? '' : ', TrainerCallback'}`,
    'from trl import GRPOConfig, GRPOTrainer',
    ...(rows ? [] : ['from trl.chat_template_utils import add_response_schema']),
    ...rewardImports(grpo.reward_funcs),
    '',
    '# The page’s steps that came before: environment seeds are drawn from there on.',
    `STEPS_DONE = ${step}`,
    `SEED = ${grpo.seed}`,
    '# GRPO steps of this run; an optimizer step for each, num_iterations times.',
    `STEPS = ${grpo.max_steps}`,
    `NUM_ITERATIONS = ${grpo.num_iterations}`,
    ...(grpo.steps_per_generation === 1 ? [] : ['# Optimizer steps that the episodes of a GRPO step are divided over.', `SHARES = ${grpo.steps_per_generation}`]),
    `NUM_GENERATIONS = ${grpo.num_generations}`,
    `PROMPTS_PER_STEP = ${grpo.prompts_per_step}`,
    `MAX_COMPLETION_LENGTH = ${grpo.max_completion_length}`,
    ...(grpo.target_reward === null ? [] : ['# The run ends when the mean reward of the last five steps reaches this.', `TARGET_REWARD = ${py(grpo.target_reward)}`]),
    ...(base ? ['# The model’s files, which are in this folder.', 'BASE = "base"', 'REVISION = None'] : [`BASE = ${pyString(config.model)}`, `REVISION = ${pyString(run.modelSha ?? config.model_revision)}`]),
    ...(evaluation.constants === '' ? [] : [evaluation.constants.trimEnd()]),
    '# Qwen3’s thinking switch.',
    `CHAT_TEMPLATE_KWARGS = ${py({ enable_thinking: config.enable_thinking })}`,
    '',
    '',
  ]
  const parts = [argumentsFunction(run, members), modelFunction(run, adapter), ...(rows ? [] : [TOKENIZER, members.length > 0 ? MIXED_REWARD : REWARD]), ...(grpo.target_reward === null ? [] : [callback(grpo)]), mainFunction(config, members, task, reference, evaluation)]
  return `${head.join('\n')}\n${parts.join('\n\n')}\n`
}

function argumentsFunction({ config }: RunRecord, members: readonly Member[]): string {
  const url = members.some(({ run }) => run.config.environment.kind === 'openenv')
    ? 'action="append", default=[], metavar="NAME=URL", help="another address of an OpenEnv server, by the name of its environment"'
    : 'help="another address of the OpenEnv server"'
  const hasServer = singleSpecs(config.environment).some(({ kind }) => kind === 'openenv')
  return `def arguments() -> argparse.Namespace:
    """What may differ between machines; the settings of the run stand in main."""
    cli = argparse.ArgumentParser(description="Goes on in TRL with a run of GRPO Playground.")
    cli.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help="this folder, where the script runs elsewhere")
    cli.add_argument("--output-dir", default="trl-run", help="checkpoints and the final adapter")
    cli.add_argument("--steps", type=int, default=STEPS, help="GRPO steps")
    cli.add_argument("--micro-batch", type=int, default=8, help="most episodes in one forward pass of a device; changes memory and speed only")
${hasServer ? `    cli.add_argument("--environment-url", ${url})\n` : ''}    cli.add_argument("--vllm", choices=["colocate", "server"], help="sample with vLLM, on the training devices or on a server")
    cli.add_argument("--vllm-url", default="http://localhost:8001", help="address of the vLLM server")
    cli.add_argument("--report-to", default="none", help="trackio, wandb, tensorboard ...")
    cli.add_argument("--hub-model-id", help="push the trained adapter to this repository, private")
    return cli.parse_args()
`
}

function modelFunction({ config }: RunRecord, adapter: boolean): string {
  const quantised =
    config.precision === 'float32'
      ? []
      : [
          comment(
            `STUB: the page kept the base weights as ${config.precision}, in symmetric blocks of 32 with float32 scales. Nothing in PyTorch has this format,\n` +
              'so they are taken as published here: the first rewards may differ by what rounding costs. For a small memory pass\n' +
              `quantization_config=BitsAndBytesConfig(${config.precision === 'int8' ? 'load_in_8bit=True' : 'load_in_4bit=True'}), which rounds otherwise than the page.`,
            4,
          ),
        ]
  const load = ['    # float32 weights, as the LoRA is trained over on the page; a GPU computes in bfloat16 (bf16 below).', ...quantised, '    model = AutoModelForCausalLM.from_pretrained(base, revision=REVISION, dtype=torch.float32)']
  const start = adapter
    ? ['    # Without is_trainable the adapter would stay frozen, silently.', '    return PeftModel.from_pretrained(model, str(folder / "adapter"), is_trainable=True)']
    : ['    # All parameters are trained, as on the page.', '    return model']
  return [`def load_model(base: str, folder: Path) -> ${adapter ? 'PeftModel' : 'Any'}:`, '    """The policy as the page left it."""', ...load, ...start, ''].join('\n')
}

const TOKENIZER = `def load_tokenizer(base: str, prompt: list[dict[str, str]], tools: list[dict[str, Any]]) -> Any:
    """The model's tokenizer, with a chat template that TRL can read tool calls of: it knows templates by their very text."""
    tokenizer = AutoTokenizer.from_pretrained(base, revision=REVISION, padding_side="left")
    try:
        return add_response_schema(tokenizer)
    except ValueError:
        pass

    def rendered() -> str:
        return tokenizer.apply_chat_template(prompt, tools=tools, tokenize=False, add_generation_prompt=True, **CHAT_TEMPLATE_KWARGS)

    own = rendered()
    name = "qwen2_5" if AutoConfig.from_pretrained(base, revision=REVISION).model_type == "qwen2" else "qwen3"
    tokenizer.chat_template = (files("trl") / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")
    if rendered() != own:
        sys.exit("TRL does not know this model's chat template, and Qwen's says something else. Set response_schema on the tokenizer (TRL's docs).")
    return add_response_schema(tokenizer)
`

const REWARD = `def environment_reward(environments: list[Any], log_metric: Any, **_: Any) -> list[float | None]:
    """The environment's reward of each episode; None where it failed, which leaves the episode out."""
    rewards = [environment._reward() for environment in environments]
    scored = [(environment, reward) for environment, reward in zip(environments, rewards) if reward is not None]
    if scored:
        log_metric("success", sum(environment._is_success(reward) for environment, reward in scored) / len(scored))
    log_metric("unscorable", len(rewards) - len(scored))
    return rewards
`

/** Of several environments, also for each. */
const MIXED_REWARD = `def environment_reward(environments: list[Any], environment: list[str], log_metric: Any, **_: Any) -> list[float | None]:
    """The environment's reward of each episode; None where it failed, which leaves the episode out, and where none judges."""
    rewards = [each._reward() for each in environments]
    scored = [(name, each._is_success(reward), reward) for name, each, reward in zip(environment, environments, rewards) if reward is not None]
    if scored:
        log_metric("success", sum(success for _, success, _ in scored) / len(scored))
    for name in dict.fromkeys(name for name, _, _ in scored):
        own = [(success, reward) for each, success, reward in scored if each == name]
        log_metric(f"{name}/success", sum(success for success, _ in own) / len(own))
        log_metric(f"{name}/reward", sum(reward for _, reward in own) / len(own))
    log_metric("unscorable", sum(each._judges and reward is None for each, reward in zip(environments, rewards)))
    return rewards
`

const callback = (grpo: GrpoConfig) => `class StopAtTarget(TrainerCallback):
    """Ends the run as the page does."""

    def __init__(self) -> None:
        self.rewards: list[float] = []

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        # The later optimizer steps of a generation have no reward of their own.
        if logs and logs.get("reward") is not None:
            self.rewards = [*self.rewards, float(logs["reward"])][-5:]
        if len(self.rewards) == 5 and sum(self.rewards) / 5 >= TARGET_REWARD and state.global_step % ${updatesOf(grpo)} == 0:
            control.should_training_stop = True
`

/** Optimizer steps of a GRPO step. */
const updatesOf = ({ steps_per_generation }: GrpoConfig): string => (steps_per_generation > 1 ? '(NUM_ITERATIONS * SHARES)' : 'NUM_ITERATIONS')

/** Rows are evaluated by a person's own eval_dataset. */
const rowsEvaluated = ({ eval_strategy }: GrpoConfig): EvaluationParts => ({
  constants: '',
  dataset: eval_strategy === 'no' ? '' : '    # STUB: the page also evaluates on the rows that are held out: pass them as eval_dataset, with eval_strategy.\n',
  settings: '',
  argument: '',
  last: '',
})

function mainFunction(config: RunConfig, members: readonly Member[], task: TaskParts, reference: string, evaluation: EvaluationParts): string {
  const { grpo } = config
  const bnpo = grpo.loss_type === 'bnpo'
  const batch = bnpo
    ? ['    # bnpo averages over the tokens of a forward pass, on the page over those of the step: all of them in one pass is the same.', '    micro_batch = per_device']
    : ['    micro_batch = max(size for size in range(1, args.micro_batch + 1) if per_device % size == 0)']
  const divided = grpo.steps_per_generation > 1
  const updates = divided ? 'NUM_ITERATIONS * SHARES' : 'NUM_ITERATIONS'
  return `def main() -> None:
    """Train, and save the adapter."""
    args = arguments()
    sys.path.insert(0, str(args.folder))
${unjudged(config)}${toldStubs(config)}${limitImports(grpo.reward_funcs, members)}${task.imports}
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    episodes = PROMPTS_PER_STEP * NUM_GENERATIONS
    if episodes % processes:
        sys.exit(f"{episodes} episodes a step cannot be shared by {processes} processes: start another number of them (--num_processes).")
    per_device = episodes // processes
${divided ? `    if per_device % SHARES:
        sys.exit(f"{per_device} episodes a process cannot be divided over {SHARES} optimizer steps.")
    per_device //= SHARES
` : ''}${batch.join('\n')}

${task.dataset}
${evaluation.dataset}
    has_gpu = torch.cuda.is_available()
    config = GRPOConfig(
        output_dir=args.output_dir,
        max_steps=args.steps * ${updates},
        # A step of the optimizer is a step of the page, however many devices share it.
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=per_device // micro_batch,
${divided ? '        steps_per_generation=SHARES * (per_device // micro_batch),\n' : ''}${grpo.dynamic_sampling ? '        # The page samples groups without a signal again (dynamic_sampling); TRL has no such option, and trains on what was sampled.\n' : ''}${grpo.max_staleness > 0 ? '        # The page samples a batch while the one before is trained on (max_staleness); GRPOTrainer samples after every update. AsyncGRPOTrainer has the same setting.\n' : ''}${settingLines(grpoSettings(config), 8)}
${evaluation.settings}        bf16=has_gpu,
        use_cpu=not has_gpu,
        gradient_checkpointing=has_gpu,
        use_vllm=args.vllm is not None,
        vllm_mode=args.vllm or "colocate",
        vllm_server_base_url=args.vllm_url if args.vllm == "server" else None,
        logging_steps=1,
        log_completions=True,
        num_completions_to_print=2,
        save_steps=10,
        report_to=args.report_to,
        push_to_hub=args.hub_model_id is not None,
        hub_model_id=args.hub_model_id,
        hub_private_repo=True,
    )
    base = str(args.folder / BASE) if (args.folder / BASE).is_dir() else BASE
    trainer = GRPOTrainer(
        model=load_model(base, args.folder),
${rewardLines(grpo.reward_funcs, members)}
        args=config,
        train_dataset=dataset,
${evaluation.argument}        processing_class=${task.processing},
${task.factory}${rolloutComment(config)}${grpo.target_reward === null ? '' : '        callbacks=[StopAtTarget()],\n'}    )
${task.after}${reference}    trainer.train()
${evaluation.last}    trainer.save_model(args.output_dir)
    trainer.save_state()
    if args.hub_model_id:
        trainer.push_to_hub()


if __name__ == "__main__":
    main()`
}

/** Whether the KL term needs the adapter that the run began with; a folder that begins where the page did has it as adapter/. */
export function comparesWithStart({ config, step }: RunRecord): boolean {
  return config.grpo.beta !== 0 && step > 0
}

/** What the KL term compares with: on the page the policy that the run began with, in TRL a copy of the adapter that it is given. */
function referenceLines(run: RunRecord, adapter: boolean, start: boolean): string {
  const source = run.config.adapter
  if (!comparesWithStart(run)) return ''
  if (!adapter) {
    return `${comment('STUB: the page’s reference is the model that the run began with; TRL takes the one that it finds under BASE, which is already trained.', 4)}\n`
  }
  const told = "The page's reference is the adapter that the run began with"
  const set = (weights: string) => `set_peft_model_state_dict(trainer.model, load_peft_weights(${weights}), adapter_name="ref")`
  if (start) return `    # ${told}. TRL took a copy of adapter/.\n    ${set('str(args.folder / "start")')}\n`
  if (source === null) {
    return `    # The page's reference is the policy that the run began with: a fresh LoRA, which is the base model. TRL took a copy of adapter/.
    for name, parameter in trainer.model.named_parameters():
        if ".ref." in name and "lora_B" in name:
            parameter.data.zero_()
`
  }
  if (source.kind === 'hub') {
    // A commit stays what it is; a branch does not.
    const moves = /^[0-9a-f]{40}$/.test(source.revision)
      ? `${told}. TRL took a copy of adapter/.`
      : `STUB: ${told}: what ${source.revision} of\n${source.repo} was then. It may have moved since; give the commit as revision.`
    return `${comment(moves, 4)}\n    ${set(`${pyString(source.repo)}, revision=${pyString(source.revision)}`)}\n`
  }
  return `${comment(
    `STUB: ${told}, the file ${source.name}, which is not in this folder. TRL compares with adapter/\n` +
      `instead, so the KL term is 0 at first. With the file at hand, from peft:\n${set('"FOLDER OF THE FILE"')}`,
    4,
  )}\n`
}
