import { load as readYaml, YAMLException } from 'js-yaml';
import type { z } from 'zod';
import { nearest } from '../lib/suggest.ts';
import { loadAnalyzer } from '../sql/analyzer.ts';
import type { Dialect } from '../sql/dialect.ts';
import { buildDataset, buildMetric, type Report } from './build.ts';
import { checkDataset, checkMetric } from './check.ts';
import { type Dataset, datasetSchema, spanningMetricsSchema } from './dataset.ts';
import { type Diagnostic, type Finding, located } from './diagnostic.ts';
import type { ModelDataset, ModelMetric, SemanticModel } from './model.ts';

export interface LoadedModel {
  readonly model: SemanticModel;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ModelFile {
  /** As shown in diagnostics. */
  readonly path: string;
  readonly text: string;
}

/** One file on its way into the model; without `dataset` where it has errors, or is the file of spanning metrics. */
interface Loading {
  readonly file: ModelFile;
  readonly findings: Finding[];
  readonly source?: Dataset;
  readonly dataset?: ModelDataset;
  readonly spanning: readonly ModelMetric[];
}

/** The model of a connection. A file with errors is left out, with its reasons among the diagnostics; the rest works. */
export async function loadModel(input: {
  readonly connection: string;
  readonly dialect: Dialect;
  readonly files: readonly ModelFile[];
}): Promise<LoadedModel> {
  await loadAnalyzer();
  const all = input.files.map((file) => loadFile(file, input.dialect));
  refuseTwins(all);
  let model = modelOf(input, all);
  for (const one of all) {
    if (one.source === undefined || one.dataset === undefined || hasErrors(one)) continue;
    checkDataset(model, { dataset: one.dataset, source: one.source, fail: report(one, 'error'), warn: report(one, 'warning') });
  }
  for (const one of all) {
    for (const [index, metric] of one.spanning.entries()) {
      checkMetric(model, metric, (rule, finding) => report(one, 'error')(['metrics', index], rule, finding));
    }
  }
  model = modelOf(input, all);
  const diagnostics = await Promise.all(all.filter((one) => one.findings.length > 0).map((one) => located(one.file.text, one.findings)));
  return { model, diagnostics: diagnostics.flat() };
}

function hasErrors(one: Loading): boolean {
  return one.findings.some((finding) => finding.severity === 'error');
}

function report(one: Pick<Loading, 'file' | 'findings'>, severity: Finding['severity']): Report {
  return (path, rule, { message, hint }) => void one.findings.push({ file: one.file.path, path, severity, rule, message, hint });
}

/** Every file without errors; relationships are known at both ends, those into a file with errors are gone. */
function modelOf(input: { connection: string; dialect: Dialect }, all: readonly Loading[]): SemanticModel {
  const valid = all.filter((one) => !hasErrors(one));
  const names = new Set(valid.flatMap((one) => one.dataset?.name ?? []));
  const incoming = new Map<string, ModelDataset['incoming']>();
  const datasets = new Map<string, ModelDataset>();
  for (const { dataset } of valid) {
    for (const it of dataset?.relationships ?? []) if (names.has(it.to)) incoming.set(it.to, [...(incoming.get(it.to) ?? []), it]);
  }
  for (const { dataset } of valid) {
    if (dataset === undefined) continue;
    const relationships = dataset.relationships.filter((it) => names.has(it.to));
    datasets.set(dataset.name, { ...dataset, relationships, incoming: incoming.get(dataset.name) ?? [] });
  }
  const spanning = new Map(valid.flatMap((one) => one.spanning.map((metric): [string, ModelMetric] => [metric.name, metric])));
  const excluded = new Set(all.filter(hasErrors).map(({ file, source }) => source?.dataset ?? baseName(file.path)));
  return { connection: input.connection, dialect: input.dialect, datasets, spanning, excluded };
}

function baseName(path: string): string {
  return (
    path
      .split('/')
      .at(-1)
      ?.replace(/\.ya?ml$/, '') ?? path
  );
}

function refuseTwins(all: readonly Loading[]): void {
  const first = new Map<string, string>();
  for (const one of all) {
    const name = one.source?.dataset;
    const other = name === undefined ? undefined : first.get(name);
    if (name === undefined) continue;
    if (other === undefined) first.set(name, one.file.path);
    else
      report(one, 'error')(['dataset'], 'duplicate', {
        message: `${other} also declares the dataset ${name}`,
        hint: 'Rename or remove one.',
      });
  }
}

function loadFile(file: ModelFile, dialect: Dialect): Loading {
  const findings: Finding[] = [];
  const fail = report({ file, findings }, 'error');
  const origin = { file: file.path, dialect, fail };
  try {
    const content: unknown = readYaml(file.text);
    const isSpanning = typeof content === 'object' && content !== null && 'metrics' in content && Object.keys(content).length === 1;
    if (isSpanning) {
      const parsed = spanningMetricsSchema.safeParse(content);
      if (!parsed.success) reportIssues(fail, parsed.error.issues);
      const metrics = parsed.data?.metrics ?? [];
      return {
        file,
        findings,
        spanning: metrics.map((metric, index) => buildMetric(origin, { metric, path: ['metrics', index], dataset: undefined })),
      };
    }
    const parsed = datasetSchema.safeParse(content);
    if (parsed.success) return { file, findings, source: parsed.data, dataset: buildDataset(origin, parsed.data), spanning: [] };
    reportIssues(fail, parsed.error.issues);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const at = { line: (error.mark?.line ?? 0) + 1, column: (error.mark?.column ?? 0) + 1 };
    findings.push({
      file: file.path,
      path: [],
      at,
      severity: 'error',
      rule: 'yaml',
      message: `This is not YAML: ${error.reason}`,
      hint: undefined,
    });
  }
  return { file, findings, spanning: [] };
}

function reportIssues(fail: Report, issues: readonly z.core.$ZodIssue[]): void {
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') {
      fail(issue.path, 'schema', { message: `${issue.path.join('.') || 'The file'}: ${issue.message}` });
      continue;
    }
    for (const key of issue.keys) {
      const known = keysAt(issue.path);
      const near = nearest(key, known)[0];
      const hint = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
      fail([...issue.path, key], 'unknown_key', { message: `There is no key named ${key} here`, hint });
    }
  }
}

/** The keys that the schema has at a path of a file. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: unknown = datasetSchema;
  for (const key of path) {
    schema = unwrapped(schema);
    schema = typeof key === 'number' ? property(schema, 'element') : property(property(schema, 'shape'), key);
  }
  const shape = property(unwrapped(schema), 'shape');
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
}

function unwrapped(schema: unknown): unknown {
  const inner = property(property(schema, 'def'), 'innerType');
  return inner === undefined ? schema : unwrapped(inner);
}

function property(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
