/** The way of a rollout to what its episodes begin with. */

export { firstMessages } from '../core/first-messages'
