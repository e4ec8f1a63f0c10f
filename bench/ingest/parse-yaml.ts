import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

/** Parses every YAML file of a folder once: what `bench:ingest` measures ingests with. */
const [folder = '.'] = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
for (const name of names.filter((file) => /\.ya?ml$/.test(file)))
  load(readFileSync(join(folder, name), 'utf8'));
