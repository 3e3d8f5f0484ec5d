/* Makes the ranks of one machine look like several hosts, by replacing MPI_Get_processor_name. */
#ifndef TESTS_SUPPORT_PRODUCT_VIRTUAL_HOSTS_H
#define TESTS_SUPPORT_PRODUCT_VIRTUAL_HOSTS_H

/* Divides MPI_COMM_WORLD into `hosts` hosts: blocks of consecutive ranks, or, with round_robin, ranks in turn. */
void virtual_hosts(int hosts, int round_robin);

#endif
