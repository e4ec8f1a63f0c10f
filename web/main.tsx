import { render } from 'preact';
import { enter, mayRead } from './api.ts';
import { App } from './app.tsx';
import { readAhead } from './data.ts';

const refused = await enter();
// The home page needs both: what is asked for together is there sooner.
if (mayRead() && /^#?\/?$/.test(location.hash)) readAhead(['about', 'status']);
const root = document.getElementById('app');
if (root !== null) render(<App refused={refused} />, root);
