import { render } from 'preact';
import { Page } from './page.tsx';
import { PageState } from './page-state.ts';

const page = new PageState();
render(<Page page={page} />, document.getElementById('page')!);
page.start();
