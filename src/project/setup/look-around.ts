import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { driverOfFile, drivers } from '../../warehouse/config.ts';
import type { DriverDescription } from '../../warehouse/driver-description.ts';
import { findProject } from '../open/find-project.ts';

/** Something in a folder that ktx can use. */
export interface Sighting {
  /** `chinook.db`, `3 files in exports` */
  readonly where: string;
  /** `a SQLite database` */
  readonly what: string;
  /** What to type behind `ktx` to use it. */
  readonly next: string;
}

/** Folders of thousands of files are not looked through to their end. */
const mostEntries = 500;

/**
 * What a folder has for ktx, the most useful first: a project, database files, files of tables, a
 * dbt project, a database address. Opens nothing but the first bytes of files, and connects to
 * nothing. Of a variable it reads the scheme of its address.
 */
export function lookAround(dir: string, env: NodeJS.ProcessEnv): readonly Sighting[] {
  const project = findProjectAt(dir, env);
  if (project !== undefined) return [{ where: project, what: 'a ktx project', next: 'status' }];
  const names = listFolder(dir);
  return [
    ...names.flatMap((name) => databaseFile(dir, name) ?? []),
    ...tableFiles(dir, names),
    ...dbtProject(names),
    ...databaseAddresses(dir, env),
  ];
}

function findProjectAt(dir: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return findProject(dir, undefined, env);
  } catch {
    return undefined;
  }
}

function listFolder(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .slice(0, mostEntries);
  } catch {
    return [];
  }
}

function isOf(dir: string, name: string, kind: 'file' | 'folder'): boolean {
  const stats = lstatSync(join(dir, name), { throwIfNoEntry: false });
  return kind === 'file' ? stats?.isFile() === true : stats?.isDirectory() === true;
}

function databaseFile(dir: string, name: string): Sighting | undefined {
  const driver = isOf(dir, name, 'file') ? driverOfFile(join(dir, name)) : undefined;
  if (driver === undefined) return undefined;
  const path = quotePath(`./${name}`);
  const what = `a ${driver.title.split(',')[0]} database`;
  return { where: name, what, next: `setup --driver ${driver.name} --path ${path}` };
}

/** The folder itself, and the folders in it, that have files of tables. */
function tableFiles(dir: string, names: readonly string[]): readonly Sighting[] {
  const all: readonly DriverDescription[] = drivers;
  return all.flatMap(({ name: driver, file }) => {
    const { tables } = file ?? {};
    if (tables === undefined) return [];
    const places = ['.', ...names.filter((name) => isOf(dir, name, 'folder'))];
    return places.flatMap((place): Sighting[] => {
      const entries = place === '.' ? names : listFolder(join(dir, place));
      const found = entries.filter(
        (entry) =>
          tables.test(entry) && !isConfiguration(entry) && isOf(join(dir, place), entry, 'file'),
      );
      if (found.length === 0) return [];
      const where = place === '.' ? 'this folder' : place;
      const path = quotePath(place === '.' ? '.' : `./${place}`);
      const [first = ''] = found;
      const what = found.length === 1 ? first : `${found.length} files of tables, such as ${first}`;
      return [{ where, what, next: `setup --driver ${driver} --path ${path}` }];
    });
  });
}

/** Files of programs that look like tables. */
function isConfiguration(name: string): boolean {
  return /^(?:package(?:-lock)?|tsconfig.*|manifest|catalog|composer|\.\w+)\.json$/i.test(name);
}

function dbtProject(names: readonly string[]): readonly Sighting[] {
  if (!names.includes('dbt_project.yml')) return [];
  const profiles =
    names.includes('profiles.yml') || existsSync(join(homedir(), '.dbt/profiles.yml'));
  const what = profiles ? 'a dbt project with profiles.yml' : 'a dbt project';
  return [
    {
      where: 'dbt_project.yml',
      what,
      next: profiles ? 'setup --from-dbt .' : 'connection add dbt --driver dbt --path .',
    },
  ];
}

const addressName = /^(?:[A-Z_]*DATABASE_URL|WAREHOUSE_URL|POSTGRES_URL|MYSQL_URL)$/;

/** Variables of the environment and of `.env` whose names say that they have an address. */
function databaseAddresses(dir: string, env: NodeJS.ProcessEnv): readonly Sighting[] {
  const inFile = existsSync(join(dir, '.env')) ? ['.env'] : [];
  const named = Object.keys(env)
    .filter((name) => addressName.test(name))
    .sort();
  const all: readonly DriverDescription[] = drivers;
  const servers = all.filter(({ server }) => server !== undefined).map(({ name }) => name);
  /** By the scheme of the address; nothing else of it is read. */
  const driverFor = (variable: string): string | undefined => {
    const scheme = /^[a-z]+(?=:\/\/)/i.exec(env[variable] ?? '')?.[0].toLowerCase() ?? '';
    return servers.find((name) => scheme.startsWith(name));
  };
  const nextFor = (variable: string): string => {
    const driver = driverFor(variable);
    return driver === undefined ? 'setup' : `setup --driver ${driver} --url env:${variable}`;
  };
  return [
    ...named.map((name) => ({
      where: name,
      what: 'a variable of the environment',
      next: nextFor(name),
    })),
    ...inFile.map((where) => ({
      where,
      what: 'variables that ktx.yaml can refer to as env:NAME',
      next: 'setup',
    })),
  ];
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
