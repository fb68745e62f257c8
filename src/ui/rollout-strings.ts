/** Words of rollout_func's field and editor; they come with them, not with the page. */

export const ROLLOUT_STRINGS = {
  key: 'rollout_func',
  title: 'Your own rollout_func',
  lead: 'A JavaScript function that generates the completions of a step in place of the page’s own loop.',
  help:
    'TRL’s rollout_func(prompts, trainer): prompts are message lists, each num_generations times. It returns what trainer.generate gives, a list for each prompt: token ids of prompt and completion and their log-probs; beside them env_mask where it appended tokens of its own (1 for the model’s, 0 for others), and any other list, which reward functions get as a column. In a run of several environments each prompt has its own environment’s tools: trainer.rows[i].tools, and { row: i } for apply_chat_template. Tokens that the model did not draw are never trained: without env_mask they are refused. Evaluation, Play by hand and the comparison use the page’s own loop. It runs in a sandbox, without network unless you grant hosts beside the code, and has 10 s between two calls of its trainer, waiting for a host included. When the run is stopped, its open requests end.',
  none: 'none: the page’s own loop',
  used: (called: string) => `${called}, allowed until the page is left`,
  write: 'Write…',
  change: 'Change…',
  remove: 'Remove',
  code: 'Code of rollout_func',
  /** Names and what they are. */
  terms: [
    ['await trainer.generate(inputs, { temperature, top_k, top_p, min_p, max_new_tokens, rows })', 'Draws a completion for each input, a message list or token ids. Gives prompt_ids, completion_ids, their log-probs and text. rows: the prompts that the inputs belong to, where they are not all of them in order.'],
    ['await trainer.apply_chat_template(messages, { row, tools, add_generation_prompt })', 'Token ids of a conversation with the header of the model’s next turn. row: the prompt that it belongs to, whose environment’s tools it begins with; needed where the environments of a run have different tools. tools: others than those.'],
    ['await trainer.tokenize(text)', 'Token ids of a text.'],
    ['await trainer.decode(ids, { skip_special_tokens })', 'The text of token ids.'],
    ['await trainer.parse_tool_calls(text)', 'content, tool_calls and errors of a turn.'],
    ['await trainer.tool_suffix([{ name, content }])', 'Token ids that the chat template puts behind a turn that called tools.'],
    ['await trainer.environment.open(row)', 'A session of the prompt’s environment: tools, reset(), step(name, arguments), close(). The episode gets its reward.'],
    ['trainer.step, seed, args, state, rows', 'The number of the step, the run’s seed and settings, TRL’s state, and each prompt’s index, group, seed, columns and tools.'],
    ['trainer.tools', 'The tools of the run’s environment. Where there are several with different tools, reading it is an error that says so: trainer.rows[i].tools has those of each prompt.'],
  ],
} as const
