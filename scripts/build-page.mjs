// Builds from web/: the page of `ktx web` to dist/page/, and the apps that MCP clients show to
// dist/apps/, one file each.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// A clone in which only `npm run demo` or `npm run ktx` ran has no Vite yet.
if (!existsSync(join(root, 'node_modules/vite')))
  execFileSync(process.execPath, ['scripts/ensure-installed.mjs'], { cwd: root, stdio: 'inherit' });
const { build } = await import('vite');

/** Vite's output for one HTML file, in a folder that nobody reads yet. */
async function buildInto(folder, input) {
  await build({
    configFile: false,
    root: join(root, 'web'),
    // Of a documentation host too, wherever it puts the page.
    base: './',
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // With light-dark(), so that a program around an app can choose.
      cssTarget: ['chrome123', 'safari17.5', 'firefox120'],
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      rolldownOptions: { input: join(root, 'web', input) },
    },
  });
}

/** Whoever reads it meanwhile has the old one. */
function replaceFolder(folder, unfinished) {
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

/** One file that loads nothing: only the script that it has may run. */
function inlineAll(folder, file) {
  const read = (path) => readFileSync(join(folder, 'apps', path), 'utf8');
  const html = readFileSync(join(folder, 'apps', file), 'utf8');
  const [, script] = /<script[^>]*src="([^"]+)"[^>]*><\/script>/.exec(html) ?? [];
  const styles = [...html.matchAll(/<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/g)];
  const code = `\n${read(script).replaceAll('</script', '<\\/script')}\n`;
  const style = styles.map(([, path]) => read(path)).join('\n');
  const hash = createHash('sha256').update(code).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html
    .replace(/\s*<(?:script|link)[^>]*(?:src|href)="[^"]*"[^>]*>(?:<\/script>)?/g, '')
    .replace(
      '<head>',
      () => `<head>\n    <meta http-equiv="content-security-policy" content="${policy}" />`,
    )
    .replace('</head>', () => `  <style>\n${style}</style>\n  </head>`)
    .replace('</body>', () => `  <script type="module">${code}</script>\n  </body>`);
}

const page = join(root, 'dist/page');
await buildInto(`${page}.${process.pid}`, 'index.html');
replaceFolder(page, `${page}.${process.pid}`);

const apps = join(root, 'dist/apps');
const parts = `${apps}.parts.${process.pid}`;
const unfinished = `${apps}.${process.pid}`;
mkdirSync(unfinished, { recursive: true });
for (const app of ['answer', 'conflict']) {
  await buildInto(parts, `apps/${app}.html`);
  writeFileSync(join(unfinished, `${app}.html`), inlineAll(parts, `${app}.html`));
}
rmSync(parts, { recursive: true, force: true });
replaceFolder(apps, unfinished);
