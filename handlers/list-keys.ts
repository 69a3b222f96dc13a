import { define, page } from './define.ts';

export const listKeys = define('ListKeys', page, ({ request }, { services }) => services.keys.list(request));
