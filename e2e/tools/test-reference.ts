/** `npm run test:reference`: PyTorch, transformers, PEFT and TRL make their numbers, then ours are compared with them. */

import { demandPrerequisites } from './prerequisites'
import { pythonStep, runSteps, vitestStep } from './steps'

await demandPrerequisites({ chromium: true })
const steps = [pythonStep('make', 'reference', 'e2e/reference/make.py'), vitestStep('reference', { env: { OMP_WAIT_POLICY: 'PASSIVE' } })]
process.exitCode = await runSteps(steps, process.argv.slice(2))
