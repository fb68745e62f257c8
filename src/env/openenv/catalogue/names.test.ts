/** Which names call an environment what it is, and which only hold its letters. */

import { expect, it } from 'vitest'
import { isCalled } from './names'

it.each([
  ['snake', 'openenv/snake_env'],
  ['snake', 'someone-snake-env.hf.space'],
  ['snake', 'someone-snake-env.hf.space someone/snake-env'],
  ['snake', 'localhost:8000 SnakeEnvironment'],
  ['snake', 'snake-env'],
  ['connect4', 'Connect4Environment'],
  ['connect4', 'connect4.games.example.org'],
  ['dmcontrol', 'dm-control.example.org'],
  ['dmcontrol', 'DMControlEnvironment'],
  ['reasoninggym', 'sergiopaniego-reasoning-gym.hf.space'],
  ['echo', 'qgallouedec-echo-env.hf.space'],
  ['wordle', 'a-b-wordle.hf.space a-b/wordle'],
])('%s is meant by %s', (called, names) => expect(isCalled(names, [called])).toBe(true))

it.each([
  ['unity', 'my-community.hf.space'],
  ['unity', 'unity-labs-shop.hf.space unity-labs/shop'],
  ['unity', 'unity-shop.hf.space unity/shop'],
  ['repl', 'repl.co'],
  ['repl', 'catch.me.repl.co'],
  ['echo', 'techoffice.example.com'],
  ['echo', 'echo-labs/negotiation'],
  ['maze', 'amazeapps.com'],
  ['connect4', 'queens.contoso.com'],
  ['carla', 'carla-gomez-shop.hf.space carla-gomez/shop'],
  ['carla', 'carla-gomez-shop.hf.space'],
  ['carla', 'carla-env.hf.space'],
  ['maze', 'Find_the_maze_of_words'],
  ['snake', '127.0.0.1:8000'],
  ['snake', ''],
])('%s is not meant by %s', (called, names) => expect(isCalled(names, [called])).toBe(false))
