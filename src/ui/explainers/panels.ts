/** What each panel and dialog shows and what it is for; it also speaks for the buttons in it, which say the rest themselves. */

import { type Explainer, explainer as from } from './sources'

export const PANEL_EXPLAINERS = {
  'panel:task': from(
    'trlOpenEnv',
    'What the model must do: an environment, a prompt, tools, and the settings of the run under TRL’s names. A change takes effect when the next run begins, by Reset or, before the first step, by Train. The picture is the scene of the selected episode as a person would see it; the model reads text only.',
  ),
  'panel:group': from(
    'deepSeekMath',
    'A group: the same prompt and the same environment seed, played num_generations times. Each row is an episode, its strip the tokens after the prompt by author. Since all begin alike, a difference in reward comes from what the model did, and that is what GRPO learns from. Press a row to see the episode everywhere.',
  ),
  'panel:rewards': from(
    'trlAdvantage',
    'The reward is what the environment gave the whole episode. The advantage is the reward minus the group’s mean, divided by what scale_rewards says (plus 0.0001). Above 0 (▲, blue) the episode’s tokens become likelier, below (▼, orange) less likely. If all rewards of a group are equal there is no signal: every advantage is 0.',
  ),
  'panel:update': from(
    'trlLoss',
    'One optimizer step on the LoRA, num_iterations times per batch. The card has the loss in use; press a token of the trajectory and its own numbers stand in it, with the branch of the min that won boxed. The table below has the step’s metrics by TRL’s names. The base model is never changed.',
  ),
  'panel:trajectory': from(
    'trlOpenEnv',
    'The selected episode, token by token, turn by turn. Only what the model wrote is trained; hatched tokens (the prompt, the environment’s answers, the chat template) are masked: the model reads them and they contribute 0 to the loss. In TRL this is completion_mask × tool_mask.',
  ),
  'panel:curves': from(
    'trlMetrics',
    'The run so far: one point per GRPO step, by TRL’s names, so that a run here and a run there can be laid side by side. Click a point and every panel shows that step, as long as its episodes are kept. The reward curve says whether it learns, the others mostly why not.',
  ),
  'panel:timeline': from(
    'ortWebGpu',
    'Where the time of a step goes: a lane for each slot that plays an episode and one for the trainer. Long waits for the environment mean that the server is the bottleneck; idle slots, that there are too few episodes; a long trainer lane, that the update costs most. Pauses are not counted.',
  ),
  'panel:compare': from(
    'loraConfig',
    'Before and after: the same prompt, the same environment seed and the same sampling seed, played by the base model alone and by the base with the LoRA. Up to the first token that differs both are one; from there it is seen what training changed. Greedy shows the likeliest answer of each, sampled one draw of each.',
  ),
  'panel:chat': from(
    'chatTemplates',
    'Talk to the model as it is now, with its LoRA or without. Nothing said here trains. With the tools of the environment it gets the run’s prompt and an episode of its own. The shipped model was taught to play and nothing else: without tools it cannot talk.',
  ),
  'panel:play': from(
    'openEnvCore',
    'Play an episode yourself: reset begins one, each tool call is a step, and you see what the model would read and what it would be paid. Test seeds asks the environment whether the same seed gives the same start, which GRPO’s groups rely on. Nothing of it trains until you press Train on my play, which gives the episode to the SFT stage.',
  ),
  'panel:stage': from(
    'trlSft',
    'Stages that train the same LoRA before GRPO, or between its steps. SFT imitates: every target token becomes likelier. DPO prefers: of two answers one becomes likelier than the other, measured from the adapter as the stage began. GRPO then goes on from there, and that adapter is its reference. Reset undoes all stages.',
  ),
  'panel:plan': from(
    'trlSft',
    'Stages that the run makes by itself when you press Train: SFT on games that were played at random or on the model’s own good episodes, DPO on pairs of its own games, then GRPO, all on one adapter. Which, in what order and with what settings you choose here until the run begins. Before and after each the policy plays the same fixed scenarios, so that you see what the stage changed. Pause, Step (one stage a press), Reset and kept runs work as ever; a stage without rows is left out and says why.',
  ),
  'dialog:bench': from(
    'ortWebGpu',
    'Times what a run is made of, with engines of its own: sampling with one slot and with eight (eight together should cost little more than one), forward, backward and AdamW over 2,048 tokens, and a small step of both. A dispatch is one program that the GPU is told to run; each has a fixed cost, so fewer is faster. The median is what half of the repeats were faster than.',
  ),
  'dialog:runs': from(
    'storage',
    'Every run is kept in this browser, step by step, until you delete it or the browser needs the room. Load goes on with a run from its last kept step, bit for bit as if it had not stopped; Compare draws it into the curves beside the present one. Trajectories from a file can be looked at, not trained on.',
  ),
  'dialog:take-away': from(
    'peftCheckpoint',
    'Everything of a run as files that other tools read: the adapter for PEFT, a merged model for transformers, trajectories for datasets, metrics for trackio, a folder for TRL. Evaluation measures success on fixed scenarios, also on some that training never plays. Nothing leaves this computer unless you press Publish.',
  ),
  'dialog:known': from(
    'openEnv',
    'OpenEnv environments whose tools, rewards and limits this page knows: some it has played on the real library, others were read in their source. It recognises them by what a server says of itself. Any other server works too, by what it offers; the list connects to nothing.',
  ),
  'replay:recording': from(
    'trlGrpo',
    'A real run of the shipped model that this page’s own program trained, with every token, mask, log-prob, reward and advantage, so that the page is alive before anything is loaded. It can be played, held and moved to any place. Train begins a run of your own in its place; the recording itself never changes.',
  ),
} as const satisfies Record<string, Explainer>
