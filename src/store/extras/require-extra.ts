import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '../../lib/error.ts';
import { extraFolder, isInstalled } from './extra-folders.ts';
import { type ExtraName, extraNames, extras } from './extra-list.ts';

let isRegistered = false;

/**
 * From now on the packages of the extra can be imported: those beside ktx, as in a clone, otherwise
 * those that `ktx extras add` has fetched. Throws `extra_missing` if there are neither.
 */
export function requireExtra(name: ExtraName): void {
  if (!isRegistered) resolveInExtras();
  isRegistered = true;
  if (isAvailable(name)) return;
  const { title, megabytes } = extras[name];
  const message = `This needs the extra ${name} (${title}), which is not installed.`;
  throw new UserError('extra_missing', message, {
    hint: `ktx extras add ${name} fetches it, about ${megabytes} MB`,
    exitCode: 2,
  });
}

/** True if its packages are beside ktx, or were fetched. */
export function isAvailable(name: ExtraName): boolean {
  return isBesideKtx(name) || isInstalled(name);
}

export function isBesideKtx(name: ExtraName): boolean {
  return extras[name].packages.every((packageName) => {
    try {
      return !import.meta.resolve(packageName).startsWith(pathToFileURL(extraFolder(name)).href);
    } catch {
      return false;
    }
  });
}

/** What cannot be found in the usual way is looked for in the folders of the installed extras. */
function resolveInExtras(): void {
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        const owners = extraNames.filter((name) =>
          extras[name].packages.some(
            (packageName) => specifier === packageName || specifier.startsWith(`${packageName}/`),
          ),
        );
        for (const owner of owners.filter(isInstalled)) {
          const parentURL = pathToFileURL(join(extraFolder(owner), 'index.js')).href;
          try {
            return next(specifier, { ...context, parentURL });
          } catch {
            // Another extra may have it.
          }
        }
        throw error;
      }
    },
  });
}
