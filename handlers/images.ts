import { MAX_IMAGE_LENGTH } from '../lib/image-reference.ts';
import { CONTENT, define, defineUpload, IMAGE_NAME, page } from './define.ts';

/** Stores an image at the end of its archive; an error of the archive stores nothing. */
export const importImage = defineUpload(
  {
    rpc: 'ImportImage',
    route: 'PUT /v1/images/{name+}',
    kind: 'raw',
    access: { role: 'admin', scope: 'images:write', on: 'nothing' },
    retry: 'same',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { path: { name: 'tools:1' }, file: 'image.tar' },
    constraints: { name: { required: true, maxLength: MAX_IMAGE_LENGTH, pattern: IMAGE_NAME } },
  },
  ({ name }, archive, { services }) => services.images.import(name, archive),
);

export const getImage = define(
  {
    rpc: 'GetImage',
    route: 'GET /v1/images/{image+}',
    access: { role: 'owner', scope: 'images:read', on: 'nothing' },
    retry: 'read',
    example: { path: { image: 'tools:1' } },
    constraints: { image: { required: true } },
  },
  ({ request }, { services }) => services.images.get(request.image),
);

export const listImages = define(
  {
    rpc: 'ListImages',
    route: 'GET /v1/images',
    access: { role: 'owner', scope: 'images:read', on: 'nothing' },
    retry: 'read',
    counts: ['list'],
    constraints: page,
  },
  ({ request }, { services }) => services.images.list(request),
);

export const deleteImage = define(
  {
    rpc: 'DeleteImage',
    route: 'DELETE /v1/images/{image+}',
    access: { role: 'admin', scope: 'images:write', on: 'nothing' },
    retry: 'same',
    example: { path: { image: 'tools:1' } },
    constraints: { image: { required: true } },
  },
  async ({ request }, { services }) => {
    await services.images.delete(request.image);
    return {};
  },
);
