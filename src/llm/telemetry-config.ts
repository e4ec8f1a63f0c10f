import { z } from 'zod';

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'gu').source !== '';
  } catch {
    return false;
  }
}

/** The `telemetry` slice of `ktx.yaml`. */
export const telemetryConfigSchema = z
  .strictObject({
    exporter: z.enum(['none', 'otlp']).default('none').describe('`otlp`: OTLP over HTTP as JSON.'),
    endpoint: z
      .string()
      .min(1)
      .default('http://localhost:4318')
      .describe('Of the collector, without /v1/traces; may be a reference such as env:NAME.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Values, or references such as env:NAME.'),
    sample_rate: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('Share of the conversations that are told; each as a whole or not at all.'),
    content: z
      .boolean()
      .default(false)
      .describe(
        'Tell questions, answers and arguments of tools too. They hold what is in your data.',
      ),
    redaction_patterns: z
      .array(z.string().refine(isPattern, 'no regular expression'))
      .default([])
      .describe('Regular expressions; what they match in content is replaced.'),
  })
  .describe('OpenTelemetry spans of what agents do. Nothing is sent unless an exporter is named.');
export type TelemetryConfig = z.infer<typeof telemetryConfigSchema>;
