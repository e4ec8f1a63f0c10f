import { isRecord } from '../../../lib/json.ts';
import { harmlessManagedVariables, variableEffects } from '../child/env.ts';

/**
 * One managed setting that would take part in a call of ktx. Values are left out: they can be
 * secrets.
 */
export interface ManagedEffect {
  /** Absolute path of the file, or where else the setting stands. */
  readonly file: string;
  /** Such as `hooks.SessionStart`; empty for the whole file. */
  readonly key: string;
  /** What it would do, such as `runs a program`. */
  readonly effect: string;
}

/**
 * Settings that change nothing in an isolated child. Most were tried one by one on the real
 * program; the rest concern updates, plugins and MCP files, which it does not load. All others
 * count as taking part.
 */
const harmlessKeys: ReadonlySet<string> = new Set([
  '$schema',
  'allowManagedHooksOnly',
  'allowManagedMcpServersOnly',
  'allowedMcpServers',
  'alwaysThinkingEnabled',
  'attribution',
  'autoCompactEnabled',
  'autoMemoryEnabled',
  'autoUpdatesChannel',
  'blockedMarketplaces',
  'cleanupPeriodDays',
  'companyAnnouncements',
  'deniedMcpServers',
  'disableAllHooks',
  'disabledMcpjsonServers',
  'effortLevel',
  'enableAllProjectMcpServers',
  'enabledMcpjsonServers',
  'enabledPlugins',
  'extraKnownMarketplaces',
  'fastMode',
  'includeCoAuthoredBy',
  'includeGitInstructions',
  'language',
  'model',
  'outputStyle',
  'sandbox',
  'skillOverrides',
  'spinnerTipsEnabled',
  'statusLine',
  'strictKnownMarketplaces',
  'strictPluginOnlyCustomization',
  'forceRemoteSettingsRefresh',
]);

/**
 * With these the program may refuse to start, but it sends nothing that it would not send without
 * them.
 */
const startRuleEffects: ReadonlyMap<string, string> = new Map([
  ['allowedProviders', 'restricts the account'],
  ['forceLoginMethod', 'restricts the account'],
  ['forceLoginOrgUUID', 'restricts the account'],
  ['minimumVersion', 'restricts the version'],
  ['requiredMinimumVersion', 'restricts the version'],
  ['requiredMaximumVersion', 'restricts the version'],
]);

const runsProgram = 'runs a program';
const changesModel = 'changes the model';
const withholdsTools = 'keeps the tools of ktx from the model';

const knownEffects: ReadonlyMap<string, string> = new Map([
  ['allowManagedPermissionRulesOnly', withholdsTools],
  ['apiKeyHelper', `${runsProgram} and pays with its key`],
  ['availableModels', changesModel],
  ['awsAuthRefresh', runsProgram],
  ['awsCredentialExport', runsProgram],
  ['deniedModels', changesModel],
  ['gcpAuthRefresh', runsProgram],
  ['modelOverrides', changesModel],
  ['otelHeadersHelper', runsProgram],
  ['policyHelper', runsProgram],
  ['policyHelpers', runsProgram],
  ['proxyAuthHelper', runsProgram],
]);

/** What one file of managed settings would do in a call of ktx. */
export function managedEffects(
  file: string,
  settings: Readonly<Record<string, unknown>>,
): readonly ManagedEffect[] {
  return Object.entries(settings)
    .flatMap(([key, value]) => effectiveKeys(key, value))
    .map((key) => ({ file, key, effect: effectOf(key) }));
}

/** The rules of a file that a program has to satisfy to start. */
export function startRules(
  file: string,
  settings: Readonly<Record<string, unknown>>,
): readonly ManagedEffect[] {
  return Object.keys(settings).flatMap((key) => {
    const effect = startRuleEffects.get(key);
    return effect === undefined ? [] : { file, key, effect };
  });
}

/** The parts of a setting that take part. */
function effectiveKeys(key: string, value: unknown): readonly string[] {
  if (harmlessKeys.has(key) || startRuleEffects.has(key)) return [];
  if (!isRecord(value)) return value === false ? [] : [key];
  const parts = Object.keys(value);
  if (key === 'hooks') return parts.map((part) => `hooks.${part}`);
  if (key === 'env')
    return parts.filter((part) => !harmlessManagedVariables.has(part)).map((part) => `env.${part}`);
  if (key === 'permissions')
    return parts
      .filter((part) => withholdsKtxTools(part, value[part]))
      .map((part) => `permissions.${part}`);
  return [key];
}

/** Rules about the program's own tools do not matter: ktx gives it none of them. */
function withholdsKtxTools(part: string, rules: unknown): boolean {
  const isRefusal = part === 'deny' || part === 'ask';
  return isRefusal && Array.isArray(rules) && rules.some(concernsKtxTools);
}

function concernsKtxTools(rule: unknown): boolean {
  return typeof rule !== 'string' || rule.startsWith('*') || rule.startsWith('mcp');
}

function effectOf(key: string): string {
  const known = knownEffects.get(key) ?? variableEffects.get(key.replace('env.', ''));
  if (known !== undefined) return known;
  if (key.startsWith('hooks')) return runsProgram;
  if (key.startsWith('permissions')) return withholdsTools;
  return key.startsWith('env') ? 'sets a variable of the program' : 'may change what is sent';
}
