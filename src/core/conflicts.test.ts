import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from './config'
import { assertNoConflict, conflictsOf } from './conflicts'

const keysOf = (change: Partial<GrpoConfig>) => conflictsOf({ ...DEFAULT_GRPO, ...change }).map(({ keys }) => keys[0])

describe('settings that cannot go together', () => {
  it('are none in the defaults', () => {
    expect(conflictsOf(DEFAULT_GRPO)).toEqual([])
    expect(() => assertNoConflict({ grpo: DEFAULT_GRPO })).not.toThrow()
  })

  it.each<[Partial<GrpoConfig>, string[]]>([
    [{ loss_type: 'vespo' }, ['loss_type']],
    [{ loss_type: 'vespo', vllm_importance_sampling_mode: 'sequence_truncate' }, ['loss_type']],
    [{ loss_type: 'vespo', vllm_importance_sampling_mode: 'token_mask' }, []],
    [{ loss_type: 'vespo', vllm_importance_sampling_correction: false }, []],
    [{ steps_per_generation: 8 }, []],
    [{ steps_per_generation: 9 }, ['steps_per_generation']],
    [{ steps_per_generation: 9, prompts_per_step: 2 }, []],
    [{ entropy_coef_min: 2 }, ['entropy_coef_min']],
    [{ entropy_coef_min: 1, entropy_coef_max: 1 }, []],
    [{ vllm_importance_sampling_clip_min: 4 }, ['vllm_importance_sampling_clip_min']],
    [{ vllm_importance_sampling_clip_min: 4, vllm_importance_sampling_clip_max: null }, []],
    [{ max_staleness: 1 }, []],
    [{ max_staleness: 1, num_iterations: 2, steps_per_generation: 4 }, ['max_staleness', 'max_staleness']],
    [{ max_staleness: 1, dynamic_sampling: true, beta: 0.1, top_entropy_quantile: 0.2 }, []],
  ])('%j', (change, keys) => {
    expect(keysOf(change)).toEqual(keys)
  })

  it('are a reference, coarse weights or a starting LoRA where every weight is trained', () => {
    const keys = (beside: Parameters<typeof conflictsOf>[1], beta = 0) => conflictsOf({ ...DEFAULT_GRPO, beta }, beside).map(({ keys }) => keys)
    expect(keys({ use_peft: false, precision: 'float32', adapter: null })).toEqual([])
    expect(keys({ use_peft: false }, 0.1)).toEqual([['use_peft', 'beta']])
    expect(keys({ use_peft: false, precision: 'int4', adapter: { kind: 'file', name: 'a' } })).toEqual([['use_peft'], ['use_peft']])
    expect(keys({ precision: 'int4' }, 0.1)).toEqual([])
  })

  it('are a rollout_func and sampling ahead, since it does not say when it waits', () => {
    const rollout_func = { called: 'f', code: 'async function f() {}' }
    expect(conflictsOf({ ...DEFAULT_GRPO, max_staleness: 1 }, { rollout_func }).map(({ keys }) => keys)).toEqual([['max_staleness']])
    expect(conflictsOf(DEFAULT_GRPO, { rollout_func })).toEqual([])
  })

  it('are refused with the values and what to change', () => {
    const refuse = () => assertNoConflict({ grpo: { ...DEFAULT_GRPO, steps_per_generation: 12 } })
    expect(refuse).toThrow('steps_per_generation is 12, and a generation has only 8 episodes')
    try {
      refuse()
    } catch (error) {
      expect(error).toMatchObject({ kind: 'config', advice: 'Set steps_per_generation to at most 8.' })
    }
  })
})
