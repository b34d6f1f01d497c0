/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   an exit to which a node does not come ends the job, and the host names that node.
 * Method: node 1 waits for a message that nobody sends.
 */
#include <lamina/sr.h>
#include <mpi.h>

static void* Place(void* context, size_t bytes) {
  (void)bytes;
  return context;
}

int main(void) {
  lamina_sr_config config = {0};
  lamina_sr_message message;
  config.exit_seconds = 0.5;
  if (lamina_sr_init(&config) != MPI_SUCCESS) return 2;
  if (config.is_host) lamina_sr_exit(0);
  for (;;) lamina_sr_receive(0, LAMINA_SR_WAIT, Place, 0, &message);
}
