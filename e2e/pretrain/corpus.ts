/** The text that the tokenizer is trained on: what the built-in environments and the chat template say, and plain English. */

import type { ChatMessage, Tool, ToolCall } from '../../src/core/tools'
import { catchRules, CATCH_MOVES, moveCall, walkTo } from '../../src/env/builtin/catch'
import { echoRules } from '../../src/env/builtin/echo'
import { refusal, type GameRules } from '../../src/env/builtin/game'
import { LANE_KINDS, laneExpert, laneRules } from '../../src/env/builtin/lane'
import { CUE } from './cue'

/** A conversation as a chat template takes it. */
export interface Conversation {
  messages: ChatMessage[]
  tools: readonly Tool[]
}

const SEEDS = Array.from({ length: 300 }, (_, i) => i)

/** One played game as a conversation; `choose` gives the call for a state. */
function played<State>(rules: GameRules<State>, seed: number, choose: (state: State) => ToolCall): Conversation {
  let state = rules.begin(seed, 'train')
  const messages: ChatMessage[] = [
    { role: 'system', content: rules.prompts.system },
    { role: 'user', content: (seed % 2 ? CUE : '') + rules.view(state).text },
  ]
  while (rules.outcome(state) === null) {
    const call = choose(state)
    const error = refusal(rules.tools, call)
    state = error === null ? rules.act(state, call) : rules.refuse(state)
    messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: call }] })
    messages.push({ role: 'tool', content: error ?? rules.view(state).text })
  }
  return { messages, tools: rules.tools }
}

/** Games of every kind, well and badly played, so that each text an environment can say occurs. */
export function conversations(): Conversation[] {
  const lane = SEEDS.flatMap((seed): Conversation[] => {
    const odd: ToolCall[] = [
      { name: 'observe', arguments: {} },
      { name: 'emergency_stop', arguments: {} },
      { name: 'lane_change', arguments: { direction: seed % 2 ? 'left' : 'right' } },
      { name: 'lane_change', arguments: { direction: 'straight' } },
    ]
    return [played(laneRules, seed, laneExpert), played(laneRules, seed, () => odd[seed % odd.length] as ToolCall)]
  })
  const catches = SEEDS.map((seed) =>
    played(catchRules, seed, (state) => moveCall(seed % 3 ? walkTo(state, state.ball) : (CATCH_MOVES[seed % 2] ?? 'stay'))),
  )
  const echoes = SEEDS.map((seed) => played(echoRules, seed, ({ wanted }) => ({ name: 'echo_message', arguments: { message: wanted } })))
  return [...lane, ...catches, ...echoes]
}

/** Words that must be one token wherever they stand in a game: alone, and after a blank. */
export function gameWords(): string[] {
  return [...LANE_KINDS, ...CATCH_MOVES, 'left', 'right'].flatMap((word) => [word, ` ${word}`])
}

/** A page of plain English, so that any prompt a person types comes out in pieces of a sensible size. */
export const ENGLISH = `
You are a helpful assistant. Answer the question in one short sentence, and think before you speak.
A small model can learn to use a tool when it gets a reward for what works and nothing for what does not.
The car should slow down when the light is red and go on when it is green. Turn to the side where there is room.
What is the next move? Look at the board, find the best place, then write your answer. Please try again if it was wrong.
There were three people in the house, two of them were at the table and the other one stood by the door.
She told him that they would come back after some time, because the water was still too cold for the children.
He said he had never been there before, but he knew how to get home and which way to take from the river.
We have to make good use of the time that is left. It will not be long until the first day of the new year.
How many words are in this list? Count them, give the number, and explain why you think so.
Every day the old man went down to the lake with his dog, and every night they walked home under the same moon.
I want to know more about this, so let me ask you: where does it come from, who made it and what is it for?
If you do not know the answer, say that you do not know. Do not guess. Use the function with the right arguments.
The first player wins when all pieces have been taken; the second player may play once more after that.
It is important to check each step of the work again, since a mistake in the beginning will change the result.
Most of the world could see the great change that was about to happen, although no one wanted to talk about it.
Some things are better with less. Write the code, run the test, read the error, then correct it.
Hello! My name is on the list above. Thank you for your message; here is the information that you asked for.
The teacher asked the students to think of a word, to say it out loud, and to write a short story with it.
In the following text there is a number between zero and nine. Return only the number and stop.
A train leaves the station in the morning and reaches the city in the evening. How far did it travel?
Yes, of course. No, that is not possible. Maybe it would help to begin with an example and work from there.
The user wants something done; the system says what is allowed; the assistant does it as well as it can.
Over the mountain and through the forest, up the hill and into the valley, the road was open to everyone.
This model was trained from nothing on simple games. It has seen few words, and it knows even fewer facts.
Can you tell me what happens next? Will they win or lose? Who should go first, and how much does it cost?
When the weather is good we should be outside; when it is bad we can stay inside and read our books.
Nobody understood why the price of bread had risen again, or whether it would fall within the next few weeks.
Start the game with the given state, observe what comes back, and choose the action with the highest value.
`
