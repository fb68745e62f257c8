/** `npm test`: everything but the comparison with Python's libraries. `npm test -- unit browser` runs only those steps. */

import { demandPrerequisites } from './prerequisites'
import { packageStep, pythonStep, runSteps, vitestStep } from './steps'

await demandPrerequisites({ chromium: true })
const steps = [
  vitestStep('unit'),
  pythonStep('openenv', 'openenv'),
  pythonStep('openenv-old', 'openenv-old'),
  pythonStep('openenv-libraries', 'openenv-libraries'),
  vitestStep('integration', { again: true }),
  // Integration mostly waits for its servers.
  packageStep('typecheck', 'typescript/bin/tsc', ['--noEmit'], 'integration'),
  packageStep('lint', 'eslint/bin/eslint.js', ['.'], 'integration'),
  packageStep('build', 'vite/bin/vite.js', ['build']),
  vitestStep('browser', { again: true }),
]
process.exitCode = await runSteps(steps, process.argv.slice(2))
