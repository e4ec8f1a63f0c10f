import { setFlagsFromString } from 'node:v8';

/**
 * V8 would optimize the functions of a SQL parser (up to 300 KB each) in the background, which
 * takes 300 MB. It reads these flags at each call, so they stay for the whole process. Import this
 * file before anything that loads WebAssembly.
 */
for (const flag of ['wasm-dynamic-tiering', 'wasm-tier-up']) setFlagsFromString(`--no-${flag}`);
