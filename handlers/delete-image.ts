import { define } from './define.ts';

export const deleteImage = define('DeleteImage', { image: { required: true } }, async ({ request }, { services }) => {
  await services.images.delete(request.image);
  return {};
});
