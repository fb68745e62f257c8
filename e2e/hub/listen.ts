/** Servers of the local Hub on free ports of 127.0.0.1. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export function listen(server: Server): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

/** Host and port. */
export function address(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Ends its connections, too. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
