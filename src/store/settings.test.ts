import { describe, expect, it } from 'vitest'
import { readAddress } from './address'
import { readLink, writeLink } from './link'
import { PRESET_NAMES, defaultConfig, presetByName } from './presets'
import { presetConfig } from '../worker/protocol'
import { ALL_SETTINGS, conflictOf, getSetting, readSetting, readTargets, setSetting, writeSetting } from './settings'

describe('settings table', () => {
  it('reads back every value that a preset holds', () => {
    for (const name of PRESET_NAMES) {
      const config = presetConfig(presetByName(name))
      for (const setting of ALL_SETTINGS) {
        const value = getSetting(config, setting.key)
        expect(readSetting(setting, writeSetting(value)), setting.key).toEqual({ ok: true, value })
      }
    }
  })

  it('changes one setting and leaves the config it was given alone', () => {
    const config = defaultConfig()
    const next = setSetting(config, 'r', 4)
    expect([config.lora.r, next.lora.r]).toEqual([16, 4])
    expect(next.grpo).toBe(config.grpo)
  })

  it('trains every weight with use_peft off, leaves no trace of the default, and says what does not go with it', () => {
    const config = defaultConfig()
    const full = setSetting(config, 'use_peft', false)
    expect([getSetting(config, 'use_peft'), getSetting(full, 'use_peft')]).toEqual([true, false])
    expect(setSetting(full, 'use_peft', true)).toEqual(config)
    expect(conflictOf(full, 'use_peft')).toBeNull()
    expect(conflictOf(setSetting(full, 'beta', 0.1), 'beta')).toContain('beta is 0.1 and pulls to the model as it was')
    expect(conflictOf({ ...full, precision: 'int4' }, 'use_peft')).toContain('Choose precision float32')
    expect(readLink(writeLink(full, 0)).config).toEqual(full)
  })

  it('lets only some settings be off', () => {
    const find = (key: string) => ALL_SETTINGS.find((s) => s.key === key) as (typeof ALL_SETTINGS)[number]
    expect(readSetting(find('min_p'), '')).toEqual({ ok: true, value: null })
    expect(readSetting(find('min_p'), 'off')).toEqual({ ok: true, value: null })
    expect(readSetting(find('learning_rate'), '').ok).toBe(false)
    // A comma is a decimal one, and never parts thousands.
    expect(readSetting(find('temperature'), '1,2')).toEqual({ ok: true, value: 1.2 })
    expect(readSetting(find('temperature'), '1,2,3').ok).toBe(false)
    expect(readSetting(find('max_steps'), '1,000').ok).toBe(false)
    expect(readSetting(find('learning_rate'), 'off').ok).toBe(false)
    expect(readSetting(find('target_reward'), '−0,5')).toEqual({ ok: true, value: -0.5 })
    expect(readSetting(find('max_steps'), '0x10').ok).toBe(false)
    expect(readSetting(find('max_steps'), '1.000').ok).toBe(false)
  })

  it('keeps LoRA targets in their own order and each once', () => {
    expect(readTargets('v_proj, q_proj')).toEqual({ ok: true, value: ['q_proj', 'v_proj'] })
    expect(readTargets('q_proj,q_proj')).toEqual({ ok: true, value: ['q_proj'] })
  })
})

describe('address of a server', () => {
  it.each([
    'ws://localhost:8000',
    'wss://x.hf.space',
    'http://127.0.0.1:8000/web',
    'https://example.org',
    'localhost:8000',
    '10.0.0.2:80',
    'example.org',
  ])('takes %s', (text) => {
    expect(readAddress(` ${text} `)).toEqual({ ok: true, value: text })
  })
  it.each(['', 'lane', 'ftp://x', 'javascript:alert(1)', 'ws://', 'http://a b', 'file:///etc/passwd'])('refuses "%s"', (text) => {
    expect(readAddress(text).ok).toBe(false)
  })
})
