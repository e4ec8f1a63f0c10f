import { z } from 'zod';

/** True for a valid, non-empty regular expression. */
function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text, 'gu').source !== '';
  } catch {
    return false;
  }
}

/** The `telemetry` part of `ktx.yaml`. */
export const telemetryConfigSchema = z
  .strictObject({
    exporter: z.enum(['none', 'otlp']).default('none').describe('`otlp`: OTLP over HTTP as JSON.'),
    endpoint: z
      .string()
      .min(1)
      .default('http://localhost:4318')
      .describe(
        'Address of the collector, without /v1/traces. May be a reference such as env:NAME.',
      ),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Values, or references such as env:NAME.'),
    sample_rate: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe(
        'Share of conversations and runs that are exported. Each is exported as a whole or not at all.',
      ),
    content: z
      .boolean()
      .default(false)
      .describe('Export questions, answers and tool arguments too. They contain your data.'),
    redaction_patterns: z
      .array(z.string().refine(isRegularExpression, 'not a regular expression'))
      .default([])
      .describe('Regular expressions. Text in the content that matches one is replaced.'),
  })
  .describe(
    'OpenTelemetry spans of agents and of the model calls of an ingest. Nothing is sent without an exporter.',
  );
export type TelemetryConfig = z.infer<typeof telemetryConfigSchema>;
