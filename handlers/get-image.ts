import { define } from './define.ts';

export const getImage = define('GetImage', { image: { required: true } }, ({ request }, { services }) =>
  services.images.get(request.image),
);
