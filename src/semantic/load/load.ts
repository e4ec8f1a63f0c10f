import { basename } from 'node:path/posix';
import { load as readYaml, YAMLException } from 'js-yaml';
import { checkSchema } from '../../lib/schema-check.ts';
import { type Diagnostic, type Finding, locateFindings } from '../../lib/diagnostic.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { buildDataset } from './build.ts';
import type { ReportFinding } from './fragments.ts';
import { checkDataset } from './check.ts';
import { checkColumns, type PhysicalTable } from './check-columns.ts';
import { type Dataset, datasetSchema } from '../model/dataset.ts';
import { withJoins, sameItems } from '../model/join-graph.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { cachedFindings } from './check-cache.ts';

export interface LoadedModel {
  readonly model: SemanticModel;
  readonly diagnostics: readonly Diagnostic[];
}

interface ModelFile {
  /** As shown in diagnostics. */
  readonly path: string;
  readonly text: string;
}

/** One file on its way into the model; without `source` where it cannot be read, without `dataset` where it is not built yet. */
interface LoadingFile {
  readonly file: ModelFile;
  readonly findings: Finding[];
  readonly source?: Dataset;
  readonly dataset?: ModelDataset;
}

interface ModelText {
  readonly dialect: Dialect;
  readonly files: readonly ModelFile[];
  /** What the catalog has; without it, no table or column is checked. */
  readonly tables?: readonly PhysicalTable[] | undefined;
}

/** The model of a connection. A file with errors is left out, with its reasons among the diagnostics; the rest works. */
export async function loadModel({ dialect, files, tables }: ModelText): Promise<LoadedModel> {
  const { all, model } = await withAnalyzer(() => buildAndCheck(files, dialect, tables));
  const diagnostics = await Promise.all(
    all.flatMap(({ file, findings }) =>
      findings.length === 0 ? [] : [locateCached(file.text, findings)],
    ),
  );
  return { model, diagnostics: diagnostics.flat() };
}

function buildAndCheck(files: readonly ModelFile[], dialect: Dialect, tables: ModelText['tables']) {
  const all = files.map((file) => loadFile(file, dialect));
  rejectDuplicateDatasets(all);
  const model = assembleModel(dialect, all);
  let isValid = true;
  for (const one of all) {
    const { source, dataset } = one;
    if (source === undefined || dataset === undefined || hasErrors(one)) continue;
    const found = cachedFindings(dataset, { model, besides: tables }, (watched) => {
      const fresh = { ...one, findings: [] };
      const checked = {
        source,
        dataset,
        fail: findingReporter(fresh, 'error'),
        warn: findingReporter(fresh, 'warning'),
      };
      checkDataset(watched, checked);
      checkColumns(watched, checked, tables);
      return fresh.findings;
    });
    one.findings.push(...found);
    isValid &&= !hasErrors(one);
  }
  return { all, model: isValid ? model : assembleModel(dialect, all) };
}

const diagnosticsCache = new WeakMap<
  Finding,
  { readonly findings: readonly Finding[]; readonly diagnostics: Promise<readonly Diagnostic[]> }
>();

/** Looked for once, as long as the findings of a file are the same. */
function locateCached(text: string, findings: readonly Finding[]): Promise<readonly Diagnostic[]> {
  const [first] = findings;
  const loadedFiles = first && diagnosticsCache.get(first);
  if (loadedFiles !== undefined && sameItems(loadedFiles.findings, findings))
    return loadedFiles.diagnostics;
  const diagnostics = locateFindings(text, findings);
  if (first !== undefined) diagnosticsCache.set(first, { findings, diagnostics });
  return diagnostics;
}

function hasErrors(one: LoadingFile): boolean {
  return one.findings.some((finding) => finding.severity === 'error');
}

/** What to do about a finding of a rule, where that is always the same. */
const hints: Readonly<Record<string, string>> = {
  aggregate: 'Make it a metric with expr.',
  bridge: 'Add via: with the bridge dataset.',
  dialect: 'Add default: to the map.',
  not_supported: 'Put the metric into the file of the dataset whose rows it counts.',
  duplicate: 'Rename or remove one; names must differ by more than case.',
  foreign_field:
    'An expression uses its own dataset and, in on, the target; ask for others by their path in the query.',
  source: 'Give exactly one of source (a table) and sql (a query).',
};

function findingReporter(
  { file, findings }: LoadingFile,
  severity: Finding['severity'],
): ReportFinding {
  return (path, rule, said) => {
    const { message, hint } =
      typeof said === 'string' ? { message: said, hint: hints[rule] } : said;
    findings.push({ file: file.path, path, severity, rule, message, hint });
  };
}

/** Every file without errors; relationships into a file with errors are gone. */
function assembleModel(dialect: Dialect, all: readonly LoadingFile[]): SemanticModel {
  const valid = all.filter((one) => !hasErrors(one)).flatMap(({ dataset }) => dataset ?? []);
  const excluded = all
    .filter(hasErrors)
    .map(({ file, source }) => source?.dataset ?? basename(file.path).replace(/\.ya?ml$/, ''));
  const hasRules = all.some(
    ({ file, source }) =>
      source?.access !== undefined || (source === undefined && /\baccess\b/.test(file.text)),
  );
  return { dialect, datasets: withJoins(valid), excluded: new Set(excluded), hasRules };
}

function rejectDuplicateDatasets(all: readonly LoadingFile[]): void {
  for (const [name, [first, ...others]] of Map.groupBy(all, (one) => one.source?.dataset)) {
    const message = `${first?.file.path} also declares the dataset ${name}`;
    for (const one of name === undefined ? [] : others)
      findingReporter(one, 'error')(['dataset'], 'duplicate', message);
  }
}

function parseFile(file: ModelFile): LoadingFile {
  const loading: LoadingFile = { file, findings: [] };
  const fail = findingReporter(loading, 'error');
  if (!file.text.isWellFormed()) {
    fail([], 'not_utf8', { message: 'This is not valid UTF-8', hint: 'Save the file as UTF-8.' });
    return loading;
  }
  try {
    const content = readYaml(file.text);
    if (isMetricsOnly(content)) {
      fail([], 'not_supported', 'Metrics that span datasets are not supported yet.');
      return loading;
    }
    const { data, problems = [] } = checkSchema(datasetSchema, content);
    for (const { path, rule, message } of problems)
      fail(path, rule, `${path.join('.') || 'The file'}: ${message}`);
    return data === undefined ? loading : { ...loading, source: data };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const at = { line: (error.mark?.line ?? 0) + 1, column: (error.mark?.column ?? 0) + 1 };
    const message = `This is not YAML: ${error.reason}`;
    loading.findings.push({
      file: file.path,
      path: [],
      at,
      severity: 'error',
      rule: 'yaml',
      message,
      hint: undefined,
    });
    return loading;
  }
}

const known = new Map<string, LoadingFile>();

/** Read and built once for each text; findings about its neighbours are added to a copy. */
function loadFile(file: ModelFile, dialect: Dialect): LoadingFile {
  const key = `${dialect.name} ${file.path}`;
  const last = known.get(key);
  const loading = last?.file.text === file.text ? last : buildFile(parseFile(file), dialect);
  if (known.size > 20_000) known.clear();
  known.set(key, loading);
  return { ...loading, findings: [...loading.findings] };
}

function buildFile(loading: LoadingFile, dialect: Dialect): LoadingFile {
  const { file, source } = loading;
  if (source === undefined) return loading;
  return {
    ...loading,
    dataset: buildDataset(
      { file: file.path, dialect, fail: findingReporter(loading, 'error') },
      source,
    ),
  };
}

/** A file of metrics that belong to no dataset. */
function isMetricsOnly(content: unknown): boolean {
  return (
    typeof content === 'object' &&
    content !== null &&
    'metrics' in content &&
    !('dataset' in content)
  );
}
