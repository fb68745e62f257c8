/** What each named recipe is for, with the paper that it comes from. */

import type { RecipeId } from '../../store/recipes'
import { type Explainer, explainer as from } from './sources'

const WHAT = 'A recipe sets the loss, the masks, the sampler correction and dynamic sampling to TRL’s defaults and changes what its paper changes; rate, steps, sizes and seed stay as they are.'

export const RECIPE_EXPLAINERS: Record<`recipe:${RecipeId | 'own'}`, Explainer> = {
  'recipe:own': from('trlGrpo', `${WHAT} These settings are none of the recipes: they are your own. Choosing a recipe replaces them; a link keeps them.`),
  'recipe:trl': from('trlConfig', `${WHAT} This one is TRL’s defaults themselves: the loss of DAPO (a mean over all tokens), clipping at 0.2 on both sides, no KL term, rewards measured in the group’s deviations.`),
  'recipe:gspo': from('gspo', 'One ratio for each episode instead of one for each token, clipped in a very narrow range, with each generation gone through in four shares. It was made for long answers and mixture models, where ratios by token are noisy.'),
  'recipe:dapo': from('dapo', 'Clips less above than below so that rare tokens can rise, takes the mean over all tokens, leaves out episodes that ran out of room, and samples groups without a signal again (TRL cannot). The paper adds a soft punishment of overlong answers, which is a reward and not a setting.'),
  'recipe:dr_grpo': from('drGrpo', 'Leaves out two divisions of GRPO that favour some episodes: by the episode’s length and by the group’s deviation. The loss is divided by max_completion_length instead, so its size depends on that.'),
  'recipe:lite_ppo': from('litePpo', 'The difference to the group’s mean is measured in deviations of the whole step, and the mean is over all tokens. With that plain clipping is enough, the paper finds, above all for base models.'),
  'recipe:scale_rl': from('scaleRl', 'What held up best when compute was scaled: CISPO’s capped weight, which keeps the gradient of every token, deviations of the whole step, and groups of 16. The 32-bit head that belongs to it is always so here.'),
  'recipe:80_20': from('highEntropy', 'Trains on the fifth of the tokens where the model was least sure, since these decide an answer. It costs one more forward pass; in short tool calls that fifth may be a handful of tokens.'),
  'recipe:intellect_2': from('intellect2', 'Caps the ratio also where the clip does not reach, for tokens of bad episodes that have become much likelier, and pulls a little back to the start. It steadies training on episodes that are a few updates old.'),
  'recipe:deepseek_r1': from('deepSeekR1', 'A small KL term, which costs one more forward pass of the reference. The report’s groups of 16, its wide clip range and its sizes belong to a run of another scale and are left alone.'),
  'recipe:2_grpo': from('twoGrpo', 'Two episodes a group, one better and one worse: GRPO is then close to learning from pairs. Each group costs a quarter of eight, but more of them have no signal; raise prompts_per_step to have as many episodes as before.'),
  'recipe:sapo': from('sapo', 'A soft gate in place of the clip: the further a token’s ratio is from 1, the weaker its push, sooner for bad episodes than for good ones.'),
  'recipe:vespo': from('vespo', 'One smooth weight for each episode, by how far the policy has moved on it, in place of any clip. It weighs whole episodes itself, so the correction of the sampler must be one by token.'),
  'recipe:luspo': from('luspo', 'GSPO, with each episode weighted by its length, so that long answers are not pushed less for each token than short ones.'),
}
