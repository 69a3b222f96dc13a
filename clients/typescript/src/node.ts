/** Local directories as archives; `Sandbox.create({ from })` and the like use it by themselves. */
export * from './local/index.ts';
