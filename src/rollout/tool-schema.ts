/** Where the rollout finds the check of tool calls; environments need it too, so it lives in core. */

export { checkToolCall } from '../core/tool-schema'
