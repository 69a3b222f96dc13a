import { expect, it } from 'vitest';
import { deleteImage } from '../../handlers/images.ts';
import { call, message } from './call.ts';

it('DeleteImage passes on the image and answers with an empty message', async () => {
  const deleted: string[] = [];
  const remove = async (image: string) => void deleted.push(image);
  const given = { images: { delete: remove } };
  expect(await call(deleteImage, { pathParameters: { image: 'a/b:1' } }, given)).toEqual({});
  expect(await call(deleteImage, message({ image: 'c' }), given)).toEqual({});
  expect(deleted).toEqual(['a/b:1', 'c']);
  await expect(call(deleteImage, message({}), given)).rejects.toThrow('image is required');
});
