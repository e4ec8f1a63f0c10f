import { render } from 'preact';
import { enter } from './api.ts';
import { App } from './app.tsx';

const refused = await enter();
const root = document.getElementById('app');
if (root !== null) render(<App refused={refused} />, root);
