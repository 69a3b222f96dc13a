import { define, page } from './define.ts';

export const listImages = define('ListImages', page, ({ request }, { services }) => services.images.list(request));
