/** The front matter of the built site, as PyYAML and huggingface_hub read it. */

import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { hostFiles } from '../tools/ship'
import { venvPython } from '../tools/venv'

const PROGRAM = `
import json, sys
from huggingface_hub import SpaceCard
card = SpaceCard(sys.stdin.read(), ignore_metadata_errors=False)
print(json.dumps({"data": card.data.to_dict(), "text": card.text}))
`

it('is that of a static Space with sign-in and isolation', () => {
  const input = hostFiles()['README.md']
  const read = JSON.parse(execFileSync(venvPython('reference'), ['-W', 'error', '-c', PROGRAM], { input, encoding: 'utf8' }))
  expect(read.data).toEqual({
    title: 'GRPO Playground',
    emoji: expect.stringMatching(/^\p{Emoji}$/u),
    // The Hub knows these names and no others.
    colorFrom: expect.stringMatching(/^(red|yellow|green|blue|indigo|purple|pink|gray)$/),
    colorTo: expect.stringMatching(/^(red|yellow|green|blue|indigo|purple|pink|gray)$/),
    sdk: 'static',
    app_file: 'index.html',
    pinned: false,
    license: 'apache-2.0',
    short_description: expect.stringMatching(/^.{1,60}$/),
    hf_oauth: true,
    hf_oauth_scopes: ['contribute-repos', 'write-repos', 'write-discussions'],
    hf_oauth_expiration_minutes: 480,
    custom_headers: {
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'cross-origin',
    },
  })
  expect(read.text).toContain('# GRPO Playground')
})
