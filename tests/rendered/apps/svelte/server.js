import { render } from 'svelte/server';
import App from './App.svelte';

// The frame around all routes, as the server sends it.
export const frame = () => render(App);
