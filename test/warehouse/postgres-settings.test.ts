import { expect, test } from 'vitest';
import {
  clientSettings,
  type WireConfig,
} from '../../src/warehouse/postgres-wire/client-settings.ts';

const context = { connection: 'wh', projectDir: '.', cacheDir: '.', secrets: () => 'p' };
const settingsOf = (config: WireConfig) => clientSettings(config, context, { title: 'Postgres' });

test('sslmode in the URL connects without a warning of the library', () => {
  const { connectionString } = settingsOf({ url: 'postgresql://u@h/d?sslmode=require' });
  expect(connectionString).toBe('postgresql://u@h/d?sslmode=verify-full');
});

test('ssl of the configuration overrides the URL', () => {
  for (const query of ['?sslmode=require', '?sslmode=disable', '?ssl=true', '']) {
    const settings = settingsOf({ url: `postgresql://u@h/d${query}`, ssl: 'no-verify' });
    expect(settings).toMatchObject({
      connectionString: 'postgresql://u@h/d',
      ssl: { rejectUnauthorized: false },
    });
  }
});

test('an engine has its own port, and may encrypt by default', () => {
  const engine = { title: 'Redshift', port: 5439, ssl: 'verify' } as const;
  const settings = (config: WireConfig) => clientSettings(config, context, engine);
  const verified = { ssl: { rejectUnauthorized: true } };
  expect(settings({ host: 'h', database: 'd' })).toMatchObject({ port: 5439, ...verified });
  expect(settings({ url: 'redshift://u@h/d' })).toMatchObject({
    connectionString: 'postgresql://u@h:5439/d',
    ...verified,
  });
  expect(settings({ url: 'postgresql://u@h/d?sslmode=disable' })).not.toHaveProperty('ssl');
  expect(settings({ host: 'h', database: 'd', ssl: 'off' })).toMatchObject({ ssl: false });
});
