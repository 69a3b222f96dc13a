import { expect, it } from 'vitest';
import { getImage } from '../../handlers/images.ts';
import { call, message } from './call.ts';

it('GetImage passes on a name or an id, which is required', async () => {
  const asked: string[] = [];
  const get = (image: string) => {
    asked.push(image);
    return {} as never;
  };
  await call(getImage, { pathParameters: { image: 'a/b' } }, { images: { get } });
  await call(getImage, message({ image: 'sha256:1' }), { images: { get } });
  expect(asked).toEqual(['a/b', 'sha256:1']);
  await expect(call(getImage, message({}), { images: { get } })).rejects.toThrow('image is required');
});
