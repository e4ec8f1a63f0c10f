import { readWordList } from '../../../lib/words.ts';

export const duckdbFunctions = readWordList(new URL('functions.txt', import.meta.url));
