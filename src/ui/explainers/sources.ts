/** Where explanations come from: each source once, with an address that lasts. */

const TRL = 'https://huggingface.co/docs/trl'
const OPENENV = 'https://huggingface.co/docs/openenv'
const PEFT = 'https://huggingface.co/docs/peft'
const arxiv = (id: string) => `https://arxiv.org/abs/${id}`

export const SOURCES = {
  trlGrpo: { title: 'TRL, GRPO Trainer', url: `${TRL}/grpo_trainer` },
  trlAsync: { title: 'TRL, AsyncGRPO', url: `${TRL}/async_grpo_trainer` },
  trlSft: { title: 'TRL, SFT Trainer', url: `${TRL}/sft_trainer` },
  trlConfig: { title: 'TRL, GRPOConfig', url: `${TRL}/grpo_trainer#trl.GRPOConfig` },
  trlAdvantage: { title: 'TRL, Computing the advantage', url: `${TRL}/grpo_trainer#computing-the-advantage` },
  trlKl: { title: 'TRL, Estimating the KL divergence', url: `${TRL}/grpo_trainer#estimating-the-kl-divergence` },
  trlLoss: { title: 'TRL, Computing the loss', url: `${TRL}/grpo_trainer#computing-the-loss` },
  trlLossTypes: { title: 'TRL, Loss types', url: `${TRL}/grpo_trainer#loss-types` },
  trlMetrics: { title: 'TRL, Logged metrics', url: `${TRL}/grpo_trainer#logged-metrics` },
  trlOpenEnv: { title: 'TRL, OpenEnv', url: `${TRL}/openenv` },
  deepSeekMath: { title: 'DeepSeekMath: GRPO, section 4.1', url: arxiv('2402.03300') },
  deepSeekR1: { title: 'DeepSeek-R1', url: arxiv('2501.12948') },
  drGrpo: { title: 'Dr. GRPO', url: arxiv('2503.20783') },
  dapo: { title: 'DAPO', url: arxiv('2503.14476') },
  litePpo: { title: 'Tricks or Traps? (Lite PPO)', url: arxiv('2508.08221') },
  ppo: { title: 'Proximal Policy Optimization', url: arxiv('1707.06347') },
  gspo: { title: 'GSPO', url: arxiv('2507.18071') },
  gdpo: { title: 'GDPO', url: arxiv('2601.05242') },
  cispo: { title: 'MiniMax-M1 (CISPO)', url: arxiv('2506.13585') },
  sapo: { title: 'SAPO', url: arxiv('2511.20347') },
  vespo: { title: 'VESPO', url: arxiv('2602.10693') },
  luspo: { title: 'LUSPO', url: arxiv('2602.05261') },
  scaleRl: { title: 'The Art of Scaling RL Compute (ScaleRL)', url: arxiv('2510.13786') },
  twoGrpo: { title: 'It Takes Two: 2-GRPO', url: arxiv('2510.00977') },
  highEntropy: { title: 'Beyond the 80/20 Rule', url: arxiv('2506.01939') },
  intellect2: { title: 'INTELLECT-2', url: arxiv('2505.07291') },
  deepSeekV32: { title: 'DeepSeek-V3.2', url: arxiv('2512.02556') },
  klApprox: { title: 'Schulman, Approximating KL divergence', url: 'http://joschu.net/blog/kl-approx.html' },
  lora: { title: 'LoRA', url: arxiv('2106.09685') },
  loraConfig: { title: 'PEFT, LoraConfig', url: `${PEFT}/package_reference/lora#peft.LoraConfig` },
  peftCheckpoint: { title: 'PEFT, checkpoint format', url: `${PEFT}/developer_guides/checkpoint` },
  qlora: { title: 'QLoRA', url: arxiv('2305.14314') },
  adam: { title: 'Adam', url: arxiv('1412.6980') },
  nucleus: { title: 'Nucleus sampling', url: arxiv('1904.09751') },
  topK: { title: 'Top-k sampling', url: arxiv('1805.04833') },
  minP: { title: 'Min-p sampling', url: arxiv('2407.01082') },
  clipNorm: { title: 'Pascanu et al., clipping the gradient’s norm', url: arxiv('1211.5063') },
  schedules: { title: 'transformers, schedules', url: 'https://huggingface.co/docs/transformers/main_classes/optimizer_schedules' },
  chatTemplates: { title: 'transformers, chat templates', url: 'https://huggingface.co/docs/transformers/chat_templating' },
  openEnv: { title: 'OpenEnv', url: OPENENV },
  openEnvCore: { title: 'OpenEnv, core API', url: `${OPENENV}/reference/core` },
  ortWebGpu: { title: 'ONNX Runtime, WebGPU', url: 'https://onnxruntime.ai/docs/tutorials/web/ep-webgpu.html' },
  ortFlags: { title: 'ONNX Runtime Web, flags and options', url: 'https://onnxruntime.ai/docs/tutorials/web/env-flags-and-session-options.html' },
  hubTokens: { title: 'Hugging Face, access tokens', url: 'https://huggingface.co/docs/hub/security-tokens' },
  hubUpload: { title: 'Hugging Face, uploading models', url: 'https://huggingface.co/docs/hub/models-uploading' },
  smoothing: { title: 'W&B, the smoothing that TensorBoard has', url: 'https://docs.wandb.ai/support/models/articles/what-formula-do-you-use-for-your-smoothi' },
  storage: { title: 'MDN, storage quotas', url: 'https://developer.mozilla.org/docs/Web/API/Storage_API/Storage_quotas_and_eviction_criteria' },
  unipo: { title: 'UNIPO, policy optimization token by token', url: arxiv('2605.11549') },
  wilson: { title: 'Wilson’s interval', url: 'https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval' },
} as const satisfies Record<string, { title: string; url: string }>

export type SourceKey = keyof typeof SOURCES

/** What a '?' opens: one paragraph, and where to read on. */
export interface Explainer {
  text: string
  source: SourceKey
}

export const explainer = (source: SourceKey, text: string): Explainer => ({ text, source })
