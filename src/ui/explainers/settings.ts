/** What each setting of the run is, when to change it, and what happens at its ends. */

import type { SettingKey } from '../../store/settings'
import { type Explainer, explainer as from } from './sources'

export const SETTING_EXPLAINERS: Record<SettingKey | 'target_modules' | 'backend' | 'environment' | 'system_prompt' | 'user_prompt', Explainer> = {
  seed: from(
    'trlConfig',
    'Every random number of the run follows from it: the scenarios, the sampled tokens, the fresh LoRA. The same settings and seed give the same run on the same machine. Change it to see how much of a result is luck: a change that only one seed shows is none.',
  ),
  learning_rate: from(
    'trlConfig',
    'How far one optimizer step (AdamW) moves the LoRA. Raise it when the reward stays flat although groups have a signal; lower it when the reward collapses. Too small, nothing happens in the steps that you have; too large, the model forgets how to write a tool call and every episode fails alike. A LoRA takes about ten times the rate of full training.',
  ),
  num_generations: from(
    'deepSeekMath',
    'G, the group size: how many episodes start from the same prompt and the same environment seed, to be compared with each other. Their mean is the baseline, so no value model is needed. A larger group sees rare successes and steadies the mean, and takes as much longer; with 2, one is above the mean and the other below, or there is no signal.',
  ),
  prompts_per_step: from(
    'trlGrpo',
    'Groups per GRPO step, each with a scenario of its own; TRL’s generation_batch_size is this times num_generations. With 1, an update knows one scenario only and may unlearn another; with more, it is steadier and fewer steps pass without any signal, but each step takes longer.',
  ),
  max_steps: from(
    'trlConfig',
    'The run ends after this many GRPO steps. It can be changed at any time: lowered, the run ends after the step it is in at the latest; raised, it goes on further, after its end by Resume. With a falling lr_scheduler_type it is also where the learning rate arrives at 0.',
  ),
  temperature: from(
    'trlConfig',
    'Divides the logits before sampling, and in the loss alike. Above 1 the model tries more and writes more nonsense; below 1 it repeats itself, so the episodes of a group become equal and there is nothing to compare. Near 0 every group is without signal; at 5 hardly a tool call can be read.',
  ),
  loss_type: from(
    'trlLossTypes',
    'What a token’s loss is, and how the losses are averaged. grpo, bnpo, dapo and dr_grpo clip the ratio and differ in the average: within each episode first, over all tokens of the step, or over a constant. cispo caps the ratio and keeps every gradient; sapo fades the push softly; vespo weighs whole episodes; luspo sums over each episode. With one update a batch the ratio is 1 and only the average matters.',
  ),
  scale_rewards: from(
    'litePpo',
    'What the difference to the group’s mean is divided by. group: the group’s own standard deviation, so a group where one of eight fails pushes hard. batch: that of the whole step, so such groups weigh less; none: nothing (Dr. GRPO), so the size of the rewards matters. Take none or batch where nearly solved groups disturb the rest.',
  ),
  multi_objective_aggregation: from(
    'gdpo',
    'How several reward functions become one advantage. sum_then_normalize: their weighted sum is compared within the group, so a function with a large spread drowns the others. normalize_then_sum: each function is measured in its own deviations first, then summed by weight (GDPO). With one function the second only scales once more, over the whole step.',
  ),
  epsilon: from(
    'ppo',
    'The clip range: once a token’s ratio π ÷ π_old has moved this far from 1 in the direction of its advantage, it pushes no further. With num_iterations 1 (and max_staleness 0) the ratio is 1 and nothing is clipped. Small values make several updates on the same episodes safe; 0 stops every push after the first update; large values let one batch carry the model far away.',
  ),
  epsilon_high: from(
    'dapo',
    'The upper clip range on its own; off takes epsilon for both. DAPO uses 0.28 above 0.2 below, so that rare tokens may become likely sooner and entropy does not collapse. It has an effect only where clipping has one: with num_iterations above 1, or max_staleness 1.',
  ),
  beta: from(
    'trlKl',
    'Weight of the KL term, which pulls the policy back to the adapter that the run began with (a fresh one changes nothing, so that is the base model). At 0, TRL’s default, it is left out and no reference pass is computed. Raise it (0.001 to 0.05) when the model drifts into answers that score but read wrong; at large values it hardly moves.',
  ),
  num_iterations: from(
    'trlConfig',
    'μ: optimizer steps on the same episodes before new ones are sampled. 1 is pure on-policy training: the ratio is exactly 1 (with max_staleness 0). With 2 to 4 each batch is used better and clipping begins to matter; with many, the policy runs away from the one that wrote the episodes, and most tokens are clipped.',
  ),
  lr_scheduler_type: from(
    'schedules',
    'How the learning rate runs over max_steps: constant, in a line to 0 (linear), or along a half cosine to 0. TRL’s default is linear. A falling rate settles the end of a run; for trying out, constant is easier to read, since raising max_steps later changes nothing of what was.',
  ),
  warmup_steps: from(
    'schedules',
    'Optimizer steps over which the learning rate rises from 0. Adam’s first steps are as long as later ones although it knows little; a warm-up of a few steps softens them. 0 is fine for short runs; as many as max_steps, and the full rate is never reached.',
  ),
  max_grad_norm: from(
    'clipNorm',
    'A gradient longer than this is shortened to it before the optimizer step; grad_norm under Update shows the length before. It guards against one strange batch. Very small values shorten every gradient; since Adam rescales, that changes less than one expects.',
  ),
  target_reward: from(
    'trlGrpo',
    'The run ends early when the mean reward of the last five steps reaches this; off means never. It is this page’s own setting: TRL does it with a callback. Set it to stop when a task is solved, since steps without a failure teach nothing more.',
  ),
  max_completion_length: from(
    'trlConfig',
    'Token budget of an episode after its prompt: what the model writes and what the tools answer, as TRL counts it. An episode that reaches it ends there and says so. Too small, and nobody can finish, so all fail alike; larger costs memory and time only where it is used.',
  ),
  max_tool_calling_iterations: from(
    'trlConfig',
    'Most rounds of tool calls in an episode; after that it ends, with whatever reward it has. In TRL it is unlimited by default; a tab needs an end. Set it a little above what a good player needs: too small cuts good episodes, too large lets bad ones run on.',
  ),
  top_p: from(
    'nucleus',
    'Sample only among the likeliest tokens that together have this probability; 1 is off. The log-probs in the loss are those of all tokens, so cutting makes what was sampled differ from what is trained. For training leave it at 1; small values take away exploration as a low temperature does.',
  ),
  top_k: from(
    'topK',
    'Sample only among this many likeliest tokens; 0 is off. As with top_p, the log-probs in the loss are those of all tokens. With 1 every episode of a group is the same, and no group has a signal.',
  ),
  min_p: from(
    'minP',
    'Leave out tokens that are less likely than this share of the likeliest one; off leaves out none. It cuts nonsense at high temperatures and keeps more variety than top_p. As with top_p, the log-probs in the loss are those of all tokens. At 1 only the likeliest token is left.',
  ),
  dynamic_sampling: from(
    'dapo',
    'Samples another group, from a new seed, in place of each one whose rewards are all equal, so that every group of the update has a signal; off is TRL, which has no such setting. What is replaced stays to be seen as discarded and is in no update, but its time and tokens count, and so does its reward in the curves. It costs most where it is needed most: when nearly all is solved or nothing is.',
  ),
  max_resampled_groups: from(
    'dapo',
    'Most groups that dynamic sampling adds to a step. At this cap the step goes on with what it has, groups without a signal included. Small values bound the time of a step; with a large one a solved task is sampled over and over for nothing.',
  ),
  max_staleness: from(
    'trlAsync',
    'Updates that a batch may be behind the policy that is trained on it. 0, the default, samples after each update. 1 samples the next batch while the last is trained on: training fills the time in which all slots wait for the environment, and the ratio, which clipping bounds, is that to the policy that sampled. It gains with servers that take their time, nothing with environments of this page, which answer at once. A kept run that goes on samples its batch anew. num_iterations must be 1.',
  ),
  use_peft: from(
    'loraConfig',
    'On, the default: a LoRA is trained, a small addition beside the model’s frozen weights. Off: every weight of the model is trained, in float32. That needs four times the model’s memory, so only small models fit; nothing of the base is left to compare with, and beta must be 0. TRL’s scripts have the same switch.',
  ),
  r: from(
    'loraConfig',
    'The LoRA’s rank: each adapted layer gets two thin matrices, A with r rows and B with r columns, and only these are trained. RL needs little: 4 to 16 learn about as much as more. Size and optimizer memory grow in proportion; 1 often does for one simple behaviour.',
  ),
  lora_alpha: from(
    'loraConfig',
    'The LoRA’s scale: what it adds to a layer is multiplied by lora_alpha ÷ r. A common choice is twice r. Doubling it acts much like a higher learning rate; very small values make the adapter too weak to be seen.',
  ),
  target_modules: from(
    'loraConfig',
    'The linear layers that get a LoRA, by PEFT’s names: q, k, v and o of attention, gate, up and down of the MLP. All seven learn best; q and v alone need least memory and are often enough. An adapter on nothing could not learn, so the last one cannot be taken away.',
  ),
  backend: from(
    'ortWebGpu',
    'Where the model computes. auto takes WebGPU where the browser has a real GPU, else WebAssembly (WASM) on the processor. The tiny model learns in minutes on WASM; models of the Hub need WebGPU. A change loads the engine again, and results differ by rounding only.',
  ),
  environment: from(
    'openEnv',
    'What plays the other side: it sets the task, answers the tool calls and gives the rewards. Three small games run inside this page; Your own server takes the address of any OpenEnv server, on your computer or as a Space. The model meets it only as text: a prompt, tools, answers.',
  ),
  system_prompt: from(
    'chatTemplates',
    'What stands before the task, in the system turn of the chat template; the tools are listed after it. All episodes read it, none of it is trained. Changing it changes the task for the model: a clear sentence can save many steps, and the shipped model knows its own wording best.',
  ),
  user_prompt: from(
    'trlOpenEnv',
    'The first message to the model, with the environment’s first observation after it, as TRL’s environment_factory joins them. It may be empty, so that the observation stands alone. It is read and never trained.',
  ),
  importance_sampling_level: from(
    'gspo',
    'Whether the ratio π ÷ π_old is each token’s own, or one for its episode: the geometric mean over its tokens (GSPO). One ratio an episode is less noisy on long ones, and clips or keeps an episode as a whole; its clip range must then be far smaller, about 3e-4. With one update a batch, and max_staleness 0, both are 1.',
  ),
  delta: from(
    'intellect2',
    'A second wall: in the branch that is not clipped, the ratio is taken as at most this. It matters for tokens with an advantage below 0 that have become likelier, which the clip alone never holds back and which can push without bound. INTELLECT-2 uses 4; off leaves it out.',
  ),
  use_bias_correction_kl: from(
    'deepSeekV32',
    'Multiplies the KL term by the ratio, which makes its gradient that of the true KL divergence once the policy has moved. It has an effect only with beta above 0. TRL’s newest release has it on.',
  ),
  steps_per_generation: from(
    'trlConfig',
    'Optimizer steps that the episodes of one generation are divided over, each taking an equal share drawn by the seed. 1 takes them all at once. With more, the later shares are a little off-policy, so their ratio leaves 1 and clipping begins; the steps are smaller and noisier.',
  ),
  mask_truncated_completions: from(
    'dapo',
    'Leaves episodes that were cut off before their end out of the loss: they did not fail, they ran out of room. Their tokens also leave the token count. With a budget that cuts nearly all, nothing is left to learn from.',
  ),
  top_entropy_quantile: from(
    'highEntropy',
    'Only this share of the step’s tokens, those with the highest entropy, has a policy term; the others keep only the KL term. The idea: what decides an answer are the few tokens where the model was undecided. 1 takes all; 0.2 is the paper’s choice. It costs one more forward pass.',
  ),
  entropy_coef: from(
    'trlConfig',
    'Weight of a bonus for entropy: the loss loses this times the mean entropy of the trained tokens, in nats. It keeps the policy from becoming sure too early. 0 is none; too much, and it prefers being undecided to being right.',
  ),
  use_adaptive_entropy: from(
    'trlConfig',
    'Lets the entropy bonus look after itself: after each optimizer step entropy_coef rises by entropy_coef_delta while the entropy is at or below entropy_target, and falls otherwise. The bonus is applied only while the entropy was at or below the target.',
  ),
  entropy_target: from('trlConfig', 'Entropy in nats that the adaptive bonus aims at. Read with use_adaptive_entropy alone. Higher keeps more exploration; 0 never calls for the bonus.'),
  entropy_coef_delta: from('trlConfig', 'How far entropy_coef moves after an optimizer step. Read with use_adaptive_entropy alone. 0 holds it; large values make it swing.'),
  entropy_coef_min: from('trlConfig', 'The least that entropy_coef may become. Read with use_adaptive_entropy alone. Above 0, a bonus stands ready whenever the entropy falls to the target.'),
  entropy_coef_max: from('trlConfig', 'The most that entropy_coef may become. Read with use_adaptive_entropy alone. It bounds what the bonus can do to the loss.'),
  off_policy_mask_threshold: from(
    'deepSeekV32',
    'Leaves out episodes with an advantage below 0 that have already become less likely by more than this, in nats a token: pushing them down further teaches nothing and can break the model. Off leaves none out; 0.5 is usable. With one update a batch nothing has moved yet.',
  ),
  vllm_importance_sampling_correction: from(
    'trlConfig',
    'Weighs what the sampler wrote by how much the training graph agrees with it. In TRL the sampler is vLLM, hence the name; here it is the decode graph, whose log-probs are kept with every token. They agree to about 1e-6, so the weight is 1 in all digits shown; it guards against a device where they do not. Of a batch that was sampled ahead (max_staleness 1) the ratio itself starts at the sampler, so the weight is 1.',
  ),
  vllm_importance_sampling_mode: from(
    'trlConfig',
    'How disagreement is answered: truncate clamps the weight, mask leaves out what is beyond; by token, or by the whole episode. vespo takes the modes by token alone.',
  ),
  vllm_importance_sampling_clip_max: from('trlConfig', 'The largest weight for what the sampler wrote; beyond it the weight is clamped or the tokens are left out. Off has no upper bound. 3 is TRL’s default; near 1 it would cut ordinary noise.'),
  vllm_importance_sampling_clip_min: from('trlConfig', 'The smallest weight for what the sampler wrote; below it the weight is clamped or the tokens are left out. Off has no lower bound, as in TRL.'),
  sapo_temperature_pos: from('sapo', 'How sharp SAPO’s gate is for tokens with an advantage above 0. Read with loss_type sapo alone. Larger fades the push sooner once the ratio leaves 1.'),
  sapo_temperature_neg: from('sapo', 'How sharp SAPO’s gate is for tokens with an advantage of 0 or below. Read with loss_type sapo alone. A little above the other, pushing down fades sooner, which keeps training steady.'),
  vespo_k_pos: from('vespo', 'Exponent of VESPO’s weight for episodes with an advantage of 0 or above. Read with loss_type vespo alone. Larger makes episodes that became less likely count less.'),
  vespo_lambda_pos: from('vespo', 'Decay of VESPO’s weight for episodes with an advantage of 0 or above. Read with loss_type vespo alone. Larger makes episodes that became likelier count less.'),
  vespo_k_neg: from('vespo', 'Exponent of VESPO’s weight for episodes with an advantage below 0. Read with loss_type vespo alone. Larger makes episodes that became less likely count less.'),
  vespo_lambda_neg: from('vespo', 'Decay of VESPO’s weight for episodes with an advantage below 0. Read with loss_type vespo alone. Larger makes episodes that became likelier count less.'),
  eval_strategy: from(
    'trlConfig',
    'Whether the run is measured while it is trained. steps plays episodes that nothing is learned from, with seeds of their own: held-out scenarios where the environment has such, so a rise there is no memory of the training scenarios. They stand in the curves of reward and success as points with their 95 % interval. The training itself stays the same number for number; it only takes longer. no leaves it out.',
  ),
  eval_steps: from('trlConfig', 'GRPO steps from one evaluation to the next; one more comes after the last step. Read with eval_strategy steps alone. Small values show the course closely and take time: with 1, every step is followed by eval_episodes episodes.'),
  eval_on_start: from('trlConfig', 'Also evaluates before the first step, which is the “before” that everything later is compared with. Read with eval_strategy steps alone. TRL has it off; here it is on.'),
  eval_episodes: from(
    'wilson',
    'Episodes of an evaluation, each of another scenario, of a dataset at most as many as it has rows; always the same ones, so that two evaluations can be compared. With 32 the 95 % interval is up to ±17 points wide, with 100 ±10, with 400 ±5. The page’s own name: TRL plays as many as eval_dataset has rows.',
  ),
  eval_greedy: from('trlConfig', 'Evaluations take the likeliest token each time, which shows the policy’s best guess without luck. Off, tokens are drawn at temperature 1, which shows what it does when it explores. The page’s own name: TRL draws as in training.'),
}
