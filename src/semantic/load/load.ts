import { basename } from 'node:path/posix';
import { YAMLException } from 'js-yaml';
import { type Diagnostic, type Finding, locateFindings } from '../../lib/diagnostic.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../model/dataset.ts';
import { sameItems, withJoins } from '../model/join-graph.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { buildDataset } from './build.ts';
import { cachedFindings } from './check-cache.ts';
import { checkColumns, type PhysicalTable } from './check-columns.ts';
import { checkDataset } from './check.ts';
import type { ReportFinding } from './dataset-check.ts';

export interface LoadedModel {
  readonly model: SemanticModel;
  readonly diagnostics: readonly Diagnostic[];
}

interface ModelText {
  readonly dialect: Dialect;
  readonly files: readonly ModelFile[];
  /** The tables of the catalog; undefined skips the checks of tables and columns. */
  readonly tables?: readonly PhysicalTable[] | undefined;
}

interface ModelFile {
  /** As diagnostics show it. */
  readonly path: string;
  readonly text: string;
}

/**
 * A file while it is loaded. `yaml` is undefined if the text is not valid, `dataset` until the
 * model's dataset is built.
 */
interface LoadingFile {
  readonly file: ModelFile;
  /** Added to in place. */
  readonly findings: Finding[];
  readonly yaml?: Dataset;
  readonly dataset?: ModelDataset;
}

/**
 * Loads the dataset files of a connection. A file with errors is left out of the model, and the
 * diagnostics say why; the others work. Files that did not change since the last call are not
 * parsed again.
 */
export async function loadModel({ dialect, files, tables }: ModelText): Promise<LoadedModel> {
  const { loading, model } = await withAnalyzer(() => buildAndCheck(files, dialect, tables));
  const withFindings = loading.filter(({ findings }) => findings.length > 0);
  const diagnostics = await Promise.all(
    withFindings.map(({ file, findings }) => locateCached(file.text, findings)),
  );
  return { model, diagnostics: diagnostics.flat() };
}

/**
 * The model of datasets that have no file yet, without those that have an error. Call it inside
 * `withAnalyzer`.
 */
export function buildModel(dialect: Dialect, datasets: readonly Dataset[]): SemanticModel {
  const files = datasets.map((dataset) => ({
    path: `${dataset.dataset}.json`,
    text: JSON.stringify(dataset),
  }));
  return buildAndCheck(files, dialect, undefined).model;
}

function buildAndCheck(
  files: readonly ModelFile[],
  dialect: Dialect,
  tables: ModelText['tables'],
): { readonly loading: readonly LoadingFile[]; readonly model: SemanticModel } {
  const loading = files.map((file) => loadFile(file, dialect));
  rejectDuplicateDatasets(loading);
  const model = assembleModel(dialect, loading);
  let isValid = true;
  for (const loadingFile of loading) {
    const { yaml, dataset } = loadingFile;
    if (yaml === undefined || dataset === undefined || hasErrors(loadingFile)) continue;
    const findings = cachedFindings(dataset, { model, input: tables }, (checkedModel) => {
      const fresh = { ...loadingFile, findings: [] };
      const check = {
        yaml,
        dataset,
        fail: findingReporter(fresh, 'error'),
        warn: findingReporter(fresh, 'warning'),
      };
      checkDataset(checkedModel, check);
      checkColumns(checkedModel, check, tables);
      return fresh.findings;
    });
    loadingFile.findings.push(...findings);
    isValid &&= !hasErrors(loadingFile);
  }
  return { loading, model: isValid ? model : assembleModel(dialect, loading) };
}

const loadedFiles = new Map<string, LoadingFile>();

/**
 * Reads and builds a file, once for each text. The caller gets its own list of findings to add to.
 */
function loadFile(file: ModelFile, dialect: Dialect): LoadingFile {
  const key = `${dialect.name} ${file.path}`;
  const last = loadedFiles.get(key);
  const loading = last?.file.text === file.text ? last : buildFile(parseFile(file), dialect);
  if (loadedFiles.size > 20_000) loadedFiles.clear();
  loadedFiles.set(key, loading);
  return { ...loading, findings: [...loading.findings] };
}

function parseFile(file: ModelFile): LoadingFile {
  const loading: LoadingFile = { file, findings: [] };
  const fail = findingReporter(loading, 'error');
  if (!file.text.isWellFormed()) {
    reportUnreadable(fail, file.text.slice(1));
    return loading;
  }
  let content: unknown;
  try {
    content = readYaml(file.text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    loading.findings.push(yamlFinding(file, error));
    return loading;
  }
  if (isMetricsOnly(content)) {
    fail([], 'not_supported', 'Metrics that span datasets are not supported yet.');
    return loading;
  }
  const { data, problems = [] } = checkSchema(datasetSchema, content);
  for (const { path, rule, message } of problems)
    fail(path, rule, `${path.join('.') || 'The file'}: ${message}`);
  return data === undefined ? loading : { ...loading, yaml: data };
}

/**
 * A file that was not read has a text that is not well-formed, and that may end with the reason.
 */
function reportUnreadable(fail: ReportFinding, reason: string): void {
  if (reason === '')
    fail([], 'not_utf8', { message: 'This is not valid UTF-8', hint: 'Save the file as UTF-8.' });
  else
    fail([], 'file_unreadable', {
      message: `This file is not read: ${reason}`,
      hint: 'Replace it with a file.',
    });
}

function yamlFinding(file: ModelFile, error: YAMLException): Finding {
  return {
    file: file.path,
    path: [],
    at: { line: (error.mark?.line ?? 0) + 1, column: (error.mark?.column ?? 0) + 1 },
    severity: 'error',
    rule: 'yaml',
    message: `This is not YAML: ${error.reason}`,
    hint: undefined,
  };
}

/** True for a file of metrics without a dataset. */
function isMetricsOnly(content: unknown): boolean {
  return (
    typeof content === 'object' &&
    content !== null &&
    'metrics' in content &&
    !('dataset' in content)
  );
}

function buildFile(loading: LoadingFile, dialect: Dialect): LoadingFile {
  const { file, yaml } = loading;
  if (yaml === undefined) return loading;
  const context = { file: file.path, dialect, fail: findingReporter(loading, 'error') };
  return { ...loading, dataset: buildDataset(context, yaml) };
}

function rejectDuplicateDatasets(loading: readonly LoadingFile[]): void {
  const byName = Map.groupBy(loading, ({ yaml }) => yaml?.dataset);
  for (const [name, [first, ...others]] of byName) {
    if (name === undefined) continue;
    const message = `${first?.file.path} also declares the dataset ${name}`;
    for (const other of others) findingReporter(other, 'error')(['dataset'], 'duplicate', message);
  }
}

/** The model of every file without errors. Relationships into files with errors are left out. */
function assembleModel(dialect: Dialect, loading: readonly LoadingFile[]): SemanticModel {
  const datasets = loading
    .filter((loadingFile) => !hasErrors(loadingFile))
    .flatMap(({ dataset }) => dataset ?? []);
  const excluded = loading
    .filter(hasErrors)
    .map(({ file, yaml }) => yaml?.dataset ?? basename(file.path).replace(/\.ya?ml$/, ''));
  // A file that cannot be read may have row rules.
  const mayHaveRules = ({ text }: ModelFile) => !text.isWellFormed() || /\baccess\b/.test(text);
  const hasRules = loading.some(
    ({ file, yaml }) => yaml?.access !== undefined || (yaml === undefined && mayHaveRules(file)),
  );
  return { dialect, datasets: withJoins(datasets), excluded: new Set(excluded), hasRules };
}

function hasErrors({ findings }: LoadingFile): boolean {
  return findings.some((finding) => finding.severity === 'error');
}

/** The usual hint of a rule. */
const hints: Readonly<Record<string, string>> = {
  aggregate: 'Make it a metric with expr.',
  bridge: 'Add via: with the bridge dataset.',
  dialect: 'Add default: to the map.',
  not_supported: 'Put the metric into the file of the dataset whose rows it counts.',
  duplicate: 'Rename or remove one; names must differ by more than case.',
  foreign_field:
    'An expression can use its own dataset and, in on:, the target; a query reaches others by their path.',
  source:
    'Give exactly one of source (a table) and sql (a query). If its table is gone from the warehouse, delete the file.',
};

function findingReporter(
  { file, findings }: LoadingFile,
  severity: Finding['severity'],
): ReportFinding {
  return (path, rule, finding) => {
    const { message, hint } =
      typeof finding === 'string' ? { message: finding, hint: hints[rule] } : finding;
    findings.push({ file: file.path, path, severity, rule, message, hint });
  };
}

const diagnosticsCache = new WeakMap<
  Finding,
  { readonly findings: readonly Finding[]; readonly diagnostics: Promise<readonly Diagnostic[]> }
>();

/** Locates findings in the text; cached by the identity of the findings. */
function locateCached(text: string, findings: readonly Finding[]): Promise<readonly Diagnostic[]> {
  const [first] = findings;
  const cached = first && diagnosticsCache.get(first);
  if (cached !== undefined && sameItems(cached.findings, findings)) return cached.diagnostics;
  const diagnostics = locateFindings(text, findings);
  if (first !== undefined) diagnosticsCache.set(first, { findings, diagnostics });
  return diagnostics;
}
