export { WorkspaceFileSystem, type WorkspaceFileSystemOptions } from './workspace-file-system.ts';
