import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { UserError } from '../../lib/error.ts';
import { type PageFiles, pageBuilder, readPageFiles } from '../../web/page-files.ts';
import type { CommandContext } from '../command.ts';

/** The page. In a clone it is built first if it is missing, or older than its sources. */
export async function readBuiltPage(context: CommandContext): Promise<PageFiles> {
  const files = readPageFiles();
  if (files !== undefined) return files;
  if (!existsSync(pageBuilder))
    throw new UserError('page_missing', 'This package of ktx has no page.', {
      hint: 'install it again: npm install ktx',
    });
  context.progress.update('building the page, once (a minute if its tools have to be installed)');
  const child = spawn(process.execPath, [pageBuilder], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const built = code === 0 ? readPageFiles() : undefined;
  if (built !== undefined) return built;
  throw new UserError('page_missing', 'The page could not be built.', {
    hint: 'npm ci, then npm run build:page says why',
    details: { said: Buffer.concat(said).toString().slice(-2_000) },
  });
}
