/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the parameters sr.* hold where the program leaves something open, and it can list them.
 * Method: mpiexec gives two of them; the program says one itself.
 */
#include <lamina/sr.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define EXPECT(expression)                                                          \
  do {                                                                              \
    if (expression) break;                                                          \
    ++failures;                                                                     \
    fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #expression); \
  } while (0)

static const char* ValueOf(const char* name) {
  const lamina_sr_option* options;
  const int count = lamina_sr_options(&options);
  for (int i = 0; i < count; ++i) {
    EXPECT(strncmp(options[i].name, "sr.", 3) == 0 && strlen(options[i].help) > 20);
    if (strcmp(options[i].name, name) == 0) return options[i].value;
  }
  return "none";
}

int main(void) {
  lamina_sr_config config = {0};
  EXPECT(strcmp(ValueOf("sr.exit_ms"), "5500") == 0);
  EXPECT(strcmp(ValueOf("sr.buffer_bytes"), "512") == 0);
  EXPECT(strcmp(ValueOf("sr.watches"), "true") == 0);
  EXPECT(strcmp(ValueOf("sr.other"), "none") == 0);
  config.buffer_bytes = 1000;
  EXPECT(lamina_sr_init(&config) == 0);
  EXPECT(config.buffer_bytes == 1000 && config.exit_seconds == 5.5 && config.watches == 1);
  if (failures > 0) lamina_sr_abort("something does not hold");
  lamina_sr_exit(0);
}
