/**
 * The article under the playground. It loads with the article, not with the page, so it is no part of `S`. In the paragraphs
 * [words](see:PANEL) leads to a panel, [words](to:SOURCE) to a source, *words* stand out, and `words` are names as TRL writes them.
 */

export const ARTICLE_STRINGS = {
  title: 'What happens here',
  contents: 'In this article',
  see: (panel: string) => `Go to ${panel} above`,
  formulas: { advantage: 'The advantage of an episode', loss: 'The loss of a step' },
  sections: [
    {
      id: 'what',
      title: 'What this is',
      paragraphs: [
        'A small language model learns in this tab. It plays a game, gets a reward for each game, and the tokens of its better games become more likely. What you see is no animation of an idea: the steps, the names and the formulas are those of the [GRPO trainer in TRL](to:trlGrpo), computed on your machine by ONNX Runtime, on the GPU or in WebAssembly. Before you press Train, a recording of such a run is shown, number for number; afterwards it is your own.',
      ],
    },
    {
      id: 'loop',
      title: 'The loop, left to right',
      paragraphs: [
        '*Task.* An environment draws a scenario from a seed and describes it in text; the model gets a prompt and a list of tools, as an agent would. The games are built in, or any [OpenEnv](to:openEnv) server plays the other side.',
        '*Group.* The same prompt with the same seed is played `num_generations` times. In each turn the model writes a message, usually a tool call, and the environment answers. Every token is drawn at random by the model’s own probabilities, so the episodes differ. [See the group.](see:group)',
        '*Rewards → advantages.* At the end each episode has a reward. What matters is how it compares with its group: better than the mean is a positive advantage, worse a negative one. [See the advantages.](see:rewards)',
        '*Update.* One optimizer step makes the tokens of the better episodes more likely and those of the worse ones less. Then new scenarios are played by the changed model, and so on; [the curves](see:curves) gain a point each time.',
      ],
    },
    {
      id: 'grpo',
      title: 'GRPO on one page',
      paragraphs: [
        'Reinforcement learning needs to know whether a result was better than expected. [PPO](to:ppo) trains a second network to say what to expect. [Group Relative Policy Optimization](to:deepSeekMath) asks the group instead: what the same model gets from the same start, on average.',
        { formula: 'advantage' },
        'Every token that the model wrote in an episode gets the episode’s advantage. That is crude, since nobody knows which token made the difference. But a token that occurs mostly in good episodes is pushed up more often than down, and over many steps that is enough.',
        { formula: 'loss' },
        'Here ρ is the ratio of a token’s probability now to the one it was sampled with. The clip stops a token from pushing further once ρ has left the range from 1 − ε to 1 + ε. With `num_iterations` 1 (and `max_staleness` 0), each batch is used once, ρ is exactly 1, and the clip never acts. The last part, with weight `beta`, holds the model near its start; it is often left out. How the tokens are averaged differs between [loss types](to:trlLossTypes). Press a token of the trajectory and [its own numbers](see:update) stand in the formula.',
      ],
    },
    {
      id: 'mask',
      title: 'What the model is not trained on',
      paragraphs: [
        'An episode is one long text, and most of it was not written by the model: the prompt, the environment’s answers, the marks of the chat template. The model reads all of it; the loss counts only its own tokens. The others are *masked*: drawn hatched, they contribute 0. Without the mask the model would learn to write the answers of the environment itself, and to be paid for what it did not do. [See the mask.](see:trajectory)',
        'Episodes without a reward, because a server failed or said nothing that could be read, are left out altogether: a failure of the server is not a 0.',
      ],
    },
    {
      id: 'nothing',
      title: 'Why nothing happens sometimes',
      paragraphs: [
        'If all episodes of a group get the same reward, every advantage is 0 and so is the gradient. At first all may fail, at the end all may succeed; in both cases the curve is flat and nothing is wrong with the program. The page calls it *no signal*. A larger group, a higher temperature, more prompts per step or an easier task help at the beginning; at the end it is time to stop.',
        'The opposite deserves as much doubt. A model learns what is rewarded, not what was meant. If the reward rises and success does not, read the episodes.',
      ],
    },
    {
      id: 'not',
      title: 'What this is not',
      paragraphs: [
        '*Not a large model.* The shipped one has 492,640 parameters. Before its recording began it had been taught, from examples, how its games are played; it knows no language. Models of the Hub can be loaded, as far as your memory goes.',
        '*Not all parameters.* Only a [LoRA](to:lora) is trained, two thin matrices beside each layer; the base stays as it is. That is common in practice, and the only thing that fits here.',
        '*Not a cluster.* One tab samples and trains in turn. Large runs do both at once on many machines, with policies that are a few steps old and corrections for it. And they compute in bfloat16, where sampler and trainer disagree more than here, where LoRA, gradients and activations are float32.',
        '*Not human preference.* Rewards come from the rules of a game. There is no reward model and no rater.',
        '*Not a benchmark.* What you see is one seed. Change the seed before you believe a difference, and measure on [held-out scenarios](to:wilson) under Take away.',
      ],
    },
    {
      id: 'on',
      title: 'How to go on',
      paragraphs: [
        '[Play an episode yourself](see:play), or [ask the model](see:chat) with its LoRA and without. Change one setting, keep the seed, and compare the two runs in the curves. Then take the run away: the adapter loads in [PEFT](to:peftCheckpoint), can be published on the Hub, and a folder with train.py goes on in [TRL with the same environment](to:trlOpenEnv) on a real GPU.',
      ],
    },
  ],
  references: {
    title: 'References',
    list: ['deepSeekMath', 'deepSeekR1', 'drGrpo', 'dapo', 'ppo', 'lora', 'trlGrpo', 'openEnv', 'unipo'],
  },
} as const
