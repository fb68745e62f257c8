/**
 * The word under which the tiny model was taught to play well. It stands before the user's text and before every tool result
 * of an expert's demonstration, on a line of its own, so that the observation behind it is tokenised as it is without. GRPO, evaluation
 * and the page never use it.
 */
export const CUE = 'Expert.\n'
