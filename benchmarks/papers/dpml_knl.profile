hsumma profile 1
# Nodes with one Xeon Phi 7250 and Omni-Path, cluster D. The figures are assumptions, for the figures of the paper on DPML.
# One process fills the link of a node, as in Figure 1 of the paper (zone C).
network.alpha_s 3.5e-6
network.beta_s_per_byte 1e-10
inject_s_per_byte 1e-10
shm.alpha_s 7e-7
shm.beta_s_per_byte 5e-10
gamma_s_per_byte 8.3e-10
# messages inside a node: to copies as on the Xeons
socket.alpha_s 9e-7
socket.beta_s_per_byte 5e-10
end
