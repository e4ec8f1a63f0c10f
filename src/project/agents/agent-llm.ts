import { checkSchema, problemText } from '../../lib/schema-check.ts';
import { UserError } from '../../lib/error.ts';
import { llmConfigSchema, type LlmConfig } from '../../llm/config.ts';
import { defaultModel } from '../../llm/presets.ts';
import type { Agent } from './agent.ts';

/** The `llm` part of `ktx.yaml` with the overrides of the agent's file. */
export function agentLlmConfig(llm: LlmConfig, { name: agentName, model }: Agent): LlmConfig {
  const { inherit, backend = llm.provider.backend, name, auth } = model;
  const isOtherBackend = backend !== llm.provider.backend;
  const isUnchanged = !isOtherBackend && name === undefined && auth === undefined;
  if (inherit === true || isUnchanged) return llm;
  const fallbackModel = isOtherBackend ? defaultModel(backend) : llm.models.default;
  const { data, problems } = checkSchema(llmConfigSchema, {
    ...llm,
    provider: {
      ...llm.provider,
      backend,
      auth: auth ?? (isOtherBackend ? undefined : llm.provider.auth),
    },
    models: { ...(isOtherBackend ? {} : llm.models), default: name ?? fallbackModel },
  });
  if (problems === undefined) return data;
  const reasons = problems.map(problemText).join('; ');
  throw new UserError(
    'agent_invalid',
    `agents/${agentName}.yaml together with llm of ktx.yaml: ${reasons}.`,
    { hint: 'correct model of the agent, or llm of ktx.yaml', exitCode: 2 },
  );
}
