/** What the controls of the bar, the model, the view, chat, evaluation and publishing do. */

import type { Display } from '../../store/display'
import { type Explainer, explainer as from } from './sources'

/** How the page is looked at; whatever is chosen here changes nothing of the run. */
export const VIEW_EXPLAINERS = {
  'view:heat': from(
    'unipo',
    'What colours the tokens. author shows who wrote them and what is masked. log-prob, probability and entropy show how sure the model was; ratio, KL to base and change, how far it has moved; trainer − sampler should be nothing but rounding; advantage × mask is what pushes. One diverging scale for all that have a sign, cut at the 2nd and 98th percentile.',
  ),
  'view:blanks': from('chatTemplates', 'Draws spaces, line ends and tabs as signs. A token often begins with a space or is one, and the chat template is full of line ends: two answers that look alike may be different tokens.'),
  'view:order': from(
    'unipo',
    'The order of the episodes in a group: as played, best or worst reward first, most surprising (lowest mean log-prob of the model’s own tokens) or most changed by the update. It only sorts; the numbers stay with their episodes.',
  ),
  'view:curves': from('trlMetrics', 'Which metrics are drawn, by TRL’s names. Begin with reward, success and entropy. Look at clip_ratio with num_iterations above 1 or max_staleness 1, at kl with beta above 0, and at completions/ and tools/ when the reward falls.'),
  'view:smoothing': from(
    'smoothing',
    'The weight of what came before in a moving average that is corrected for its beginning, as TensorBoard and W&B draw it; the true values stay as a pale line. 0 draws the values themselves. Near 1 the curve shows the trend of many steps and lags behind: do not read single steps from it.',
  ),
  'view:log': from('trlMetrics', 'A logarithmic axis of values, for metrics that run over several powers of ten, such as kl and grad_norm. Zero and negative values have no place on it and are left out.'),
  'view:only': from('openEnv', 'Which episodes of the group are listed: all, or those where something went wrong. That the environment said 0, that we could not read what was written and that the environment failed are three things; each has its own count.'),
  'view:axis': from('trlMetrics', 'What the curves run over: GRPO steps, episodes played, or seconds of computing. Steps compare algorithms, episodes compare settings with different group sizes, time compares machines and backends.'),
  'view:grain': from('trlGrpo', 'What one press of Step advances: one token of every episode that is being written, one episode to its end, or a whole GRPO step with its update. The run is the same in the end, bit for bit, however it is stepped.'),
  'view:speed': from('trlGrpo', 'How fast is what you watch. Slow leaves time to read along; a live run then waits between tokens, and the waiting is not counted in its times. The fastest goes as fast as the machine can. What is learned does not depend on it.'),
  'view:lesson': from('deepSeekMath', 'A lesson opens the page in a certain state and asks you to predict before it shows the numbers. They are those of the run on the page. Closing it brings back what was there; what you answered stays in this browser.'),
  'view:compare': from('trlGrpo', 'Which episode is played before and after: a scenario of the training split or one that training never draws, by its seed, and greedily (the likeliest token each time) or sampled at the temperature of the run. Both sides get the same seed and, sampled, the same random numbers, so that only the LoRA differs.'),
  'view:hide': from('openEnv', 'Which parts of the page are hidden, for a class that should look at few things at first. It is kept in the link only: whoever opens the link sees the same, and Show everything brings all back.'),
} as const satisfies Partial<Record<`view:${keyof Display}`, Explainer>>

export const CONTROL_EXPLAINERS = {
  'bar:run': from(
    'trlGrpo',
    'Train runs GRPO steps up to max_steps; Pause stops after the present token, and the step goes on from there. Step advances by what is chosen beside it: a token of every episode, one episode, or a GRPO step; in the end the run is the same, bit for bit. The speed slows down what you watch, and such waiting is not counted. Reset begins anew at step 0 with a fresh LoRA; the old run stays under Runs.',
  ),
  'bar:page': from('openEnv', 'Copy link copies this page’s address with every setting and what you look at, as far as they differ from the defaults, so that whoever opens it sees the same. No token and nothing of a run is in it. The last button changes between light and dark.'),
  'model:model': from(
    'loraConfig',
    'The base model, frozen: training changes only the LoRA on it. The shipped one is tiny and learns its games in minutes on any machine. Qwen2.5 and Qwen3 models are loaded from the Hub, which needs WebGPU and as much memory as is shown; larger ones begin with more ability and learn more slowly here.',
  ),
  'model:reference': from(
    'hubUpload',
    'A repository on the Hub: owner/name, with @revision for a branch, tag or commit, or the address of its page. Look up reads its small files only and says whether it fits here; nothing large is downloaded before you press Load. A revision that is a commit always gives the same model.',
  ),
  'model:precision': from(
    'qlora',
    'How the frozen base is kept: int4 and int8 (TRL’s load_in_4bit and load_in_8bit) are blocks of 32 values with one float32 scale each, float32 is exact. The LoRA, its gradients and the optimizer are always float32. int4 needs least memory and is a little less able; the adapter fits best on the base that it was trained on.',
  ),
  'model:adapter': from(
    'peftCheckpoint',
    'The LoRA that step 0 has. none makes a fresh one, which changes nothing until it is trained. One in PEFT’s format, from the Hub or from files, is trained further; its own rank, alpha and targets then replace r, lora_alpha and target_modules. With beta above 0 the KL term pulls back to it.',
  ),
  'model:memory': from(
    'ortWebGpu',
    'What the model would take here, computed before anything is loaded: weights, LoRA with optimizer, the cache of keys and values, and working memory. Sampling and training take turns, so the larger of the two counts. Browsers do not tell how much memory a GPU has; the figure that we count on is an assumption.',
  ),
  'model:device': from('ortFlags', 'What this browser offers: a WebGPU adapter and its limits, and how many WASM threads, which need a page that is isolated from others. A software adapter computes right, but hundreds of times slower than a GPU.'),
  'model:token': from(
    'hubTokens',
    'A token of your own, for models that are gated or private. A fine-grained one with read access is enough. It stays in the memory of this tab: it is never stored, never in a link, and sent to huggingface.co only. It is gone when the tab closes.',
  ),
  'model:stored': from('storage', 'Models whose files this browser has kept, so that they need not be downloaded again and work without a network. Delete frees the room. Partial ones go on from where their download stopped.'),
  'task:tools': from(
    'trlOpenEnv',
    'The tools as the model sees them, made from the environment’s own schema. Edit changes names, descriptions and allowed values or leaves a tool out; the environment still gets what it expects. A clear description helps more than many steps of training. Changes count from the next run.',
  ),
  'task:url': from(
    'openEnvCore',
    'The address of an OpenEnv server: a Space as owner/name, or localhost:8000 for one on this computer. The page talks to it over a WebSocket, one session per episode. Nothing is contacted before you press Connect. A server that allows one session only plays the episodes one after the other.',
  ),
  'dry:run': from(
    'trlGrpo',
    'Two groups are played with the settings of the run and sent once through the training graph, forward and backward; the gradient is thrown away, so the adapter stays as it is, bit for bit. It shows before the first step whether rewards differ, calls can be read and the budget suffices, and how long a step will take. Its episodes have seeds of their own and are not part of the run.',
  ),
  'chat:settings': from(
    'chatTemplates',
    'Who answers (the model with its LoRA or the base alone), whether it may think first (enable_thinking of Qwen3’s template), whether it gets the tools, and how it samples: temperature 0 is greedy, max_new_tokens cuts an answer. They belong to the chat and change nothing of the run.',
  ),
  'play:seed': from('openEnvCore', 'The seed that reset gives to the environment. The same seed should give the same start, so that the episodes of a group can be compared; Test seeds tries it. Whether it is honoured is the environment’s choice.'),
  'evaluation:episodes': from(
    'wilson',
    'How many episodes of the training scenarios and of the held-out ones are played: sampled at temperature 1, or greedy, the likeliest token each time. The scenarios are the same each time, so two evaluations can be compared, and so can the policy with its LoRA and the base model alone. More episodes make the 95 % interval narrower: with 50 it is up to ±14 points, with 400 ±5.',
  ),
  'publish:form': from(
    'hubUpload',
    'Puts the adapter, the merged model or the trajectories into a repository on the Hub, with a card written from this run, in one commit. It happens when you press Publish, under your account. Trajectories show every prompt and every answer of the environment to whoever can see the dataset.',
  ),
  'runs:storage': from('storage', 'The room that this site takes in this browser, and how much the browser allows. Nothing is deleted without you, except by the browser itself when the disk is nearly full; it can be asked to keep the site’s data, and may refuse. Models, runs and the site’s own files share the room.'),
  'downloads:files': from('peftCheckpoint', 'Files made on this computer in the formats of other tools. The adapter is what most people want: PEFT loads it on its base model. Merged is one whole model for programs that know no LoRA. The folder for TRL goes on with the same environment on a real GPU.'),
  'runs:import': from('trlOpenEnv', 'A file of trajectories, made here or logged by TRL. It is shown as a recording: every curve, episode and token that the file has. It holds no adapter, so there is nothing to train.'),
} as const satisfies Record<string, Explainer>
