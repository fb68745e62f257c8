/** Driving, robots, traffic and markets: actions that are numbers, or simulators that are heavy. */

import { isRecord } from '../../../core/records'
import type { ObservationFrame } from '../protocol'
import { withRest } from './rest'
import { argument, choice, constant, entry, integer, tool, type Entry } from './entry'

/** Speed, who is near, and a collision, as TRL's example words them. */
function carlaText({ observation }: ObservationFrame): string | null {
  const { speed_kmh, nearby_actors, collision_detected, collided_with } = observation
  if (typeof speed_kmh !== 'number') return null
  const lines = [`Speed: ${speed_kmh.toFixed(1)} km/h.`]
  const actors = Array.isArray(nearby_actors) ? nearby_actors.filter(isRecord) : []
  const word = (value: unknown, otherwise: string) => (typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise)
  for (const actor of actors) lines.push(`- ${word(actor['type'], 'actor')} at ${word(actor['distance'], '?')}m`)
  if (actors.length === 0) lines.push('No nearby actors detected.')
  if (collision_detected === true) lines.push(`COLLISION detected with ${word(collided_with, 'unknown')}!`)
  return lines.join('\n')
}

const numbers = (description: string, minimum?: number, maximum?: number) => ({
  type: 'array',
  items: { type: 'number', ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) },
  description,
})
/** CARLA's fields: TRL's example shows speed, neighbours and collisions alone. */
const CARLA_FIELDS = (
  'scene_description speed_kmh location rotation goal_distance goal_direction current_lane nearby_actors collision_detected collision_intensity ' +
  'collided_with scenario_name simulation_time step_number done_reason rubric_reward camera_image'
).split(' ')
/** TRL lets ten ticks of the simulation pass after each call. */
const TICK = { action_type: 'observe' }

export const CONTROL: readonly Entry[] = [
  entry({
    id: 'carla',
    title: 'CARLA',
    required: '',
    action: { action_type: { among: ['observe', 'emergency_stop', 'lane_change'] } },
    titles: ['CarlaAction'],
    marks: ['scenario_name', 'town'],
    called: ['carla'],
    tools: [
      {
        tool: tool('observe', 'Look at the scene while time goes on.', {}),
        fields: { action_type: constant('observe') },
        then: { action: TICK, times: 9 },
      },
      {
        tool: tool('emergency_stop', 'Brake as hard as possible.', {}),
        fields: { action_type: constant('emergency_stop') },
        then: { action: TICK, times: 10 },
      },
      {
        tool: tool('lane_change', 'Change lane to avoid obstacles.', { direction: choice('Which way', ['left', 'right']) }),
        fields: { action_type: constant('lane_change'), lane_direction: argument('direction') },
        then: { action: TICK, times: 10 },
      },
    ],
    prompts: {
      system: '',
      user: [
        'You control a car in an emergency: pedestrians are ahead, and you must decide at once.\n',
        '- `observe`: time goes on, and you see the scene.',
        '- `emergency_stop`: brake as hard as possible.',
        '- `lane_change(direction)`: change to the left or the right lane.\n',
        'Observe first, then do what harms the fewest.\n\n',
      ].join('\n'),
    },
    observation: 'Speed, the distance of everybody near, and collisions.',
    text: withRest(carlaText, CARLA_FIELDS),
    reward: { take: 'last', field: 'rubric_reward', successAt: 1 },
    stepSeconds: 120,
    resetData: { scenario_name: 'trolley_micro_escape_exists' },
    needs: ['a GPU (CARLA on Unreal Engine 5)'],
    notes: [
      'The reward to train on is rubric_reward, which is 0 until the scenario ends: a model that stops calling before that gets 0.',
      'Each call takes about ten steps of the simulation.',
      'Its CPU mock mode knows this scenario by name only: nobody is on the road, the car stands, and it never ends.',
    ],
    unrecorded: 'It needs a GPU; in its CPU mock mode the scenario never ends.',
    hosts: ['sergiopaniego-carla-env.hf.space'],
  }),
  entry({
    id: 'dm_control',
    title: 'DeepMind Control',
    required: '',
    marks: ['action_spec'],
    action: { values: { type: 'array' } },
    titles: ['DMControlAction'],
    called: ['dmcontrol'],
    tools: [
      {
        tool: tool('act', 'Set the actuators.', { values: numbers('One number for each actuator') }),
        fields: { values: argument('values') },
      },
    ],
    observation: 'JSON of named lists of numbers; pixels, where rendered, are drawn for you.',
    quirks: [{ kind: 'seed-ignored', text: 'The seed does not reach the simulation, so the members of a group start differently.' }],
    needs: ['MuJoCo on the server'],
    notes: [
      'As many numbers as the state’s action_spec says: any other count loses the episode, with an error of the environment.',
      'Reset takes domain_name, task_name and render.',
    ],
    evidence: 'played',
    recording: 'environments/dm-control.json',
  }),
  entry({
    id: 'finrl',
    unrecorded: 'FinRL and PyTorch, which it needs, were not installed where the others were recorded.',
    title: 'FinRL',
    required: 'actions',
    action: { actions: { type: 'array' } },
    titles: ['FinRLAction'],
    called: ['finrl'],
    tools: [
      {
        tool: tool('trade', 'Buy and sell.', { actions: numbers('One number from -1 (sell) to 1 (buy) for each share', -1, 1) }),
        fields: { actions: argument('actions') },
      },
    ],
    observation: 'JSON with a list of numbers.',
    quirks: [{ kind: 'seed-ignored', text: 'Servers older than 0.15 accept a seed and ignore it.' }],
    needs: ['FinRL on the server'],
  }),
  entry({
    id: 'sumo_rl',
    title: 'SUMO traffic lights',
    required: 'phase_id',
    alsoRequired: ['phase_id,ts_id'],
    action: { phase_id: { type: 'integer' } },
    titles: ['SumoAction'],
    marks: ['net_file', 'delta_time'],
    called: ['sumorl', 'sumo'],
    isRare: true,
    tools: [
      {
        tool: tool('set_phase', 'Choose the traffic light’s next phase.', { phase: integer('One that action_mask allows', 0) }),
        fields: { phase_id: argument('phase') },
      },
    ],
    observation: 'JSON with a list of numbers and action_mask.',
    quirks: [{ kind: 'seed-ignored', text: 'The server has a seed of its own: every session sees the same traffic.' }],
    needs: ['SUMO on the server'],
    notes: ['The server of July 2026 fails at reset where metadata is sent (OpenEnv newer than 0.3.1), as it puts a NumPy number there.'],
    evidence: 'played',
    recording: 'environments/sumo.json',
  }),
  entry({
    id: 'unity',
    unrecorded: 'Unity’s binaries are downloaded, and could not be where the others were recorded.',
    title: 'Unity ML-Agents',
    required: '',
    action: { discrete_actions: { type: 'array' }, continuous_actions: { type: 'array' } },
    titles: ['UnityAction'],
    called: ['unity', 'unitymlagents', 'mlagents'],
    tools: [
      {
        tool: tool('choose', 'Take discrete actions.', {
          actions: { type: 'array', items: { type: 'integer' }, description: 'One number for each branch' },
        }),
        fields: { discrete_actions: argument('actions') },
      },
      {
        tool: tool('steer', 'Take continuous actions.', { actions: numbers('One number for each action') }),
        fields: { continuous_actions: argument('actions') },
      },
    ],
    observation: 'JSON with a list of numbers; pictures are drawn for you.',
    needs: ['Unity binaries on the server'],
    notes: ['Reset takes env_id and include_visual. An environment takes either discrete or continuous actions: hide the other tool.'],
  }),
]
