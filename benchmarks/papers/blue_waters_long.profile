hsumma profile 1
# Blue Waters (Cray XE6), messages of 500 bytes and more: eager ones (below 8,000 bytes) and those with rendezvous. Fitted to the
# ping-pong times in github.com/bienz2/BlueWatersModel (BSD-2): doc/results/papers/nap.md. Short messages: blue_waters.profile.
network.alpha_s 6.951e-6
network.beta_s_per_byte 1.330e-9
network.eager_bytes 7999
network.rendezvous_alpha_s 6.195e-6
network.rendezvous_beta_s_per_byte 3.241e-10
inject_s_per_byte 1.4988e-10
node.alpha_s 1.205e-6
node.beta_s_per_byte 1.039e-9
node.eager_bytes 7999
node.rendezvous_alpha_s 2.465e-6
node.rendezvous_beta_s_per_byte 1.615e-10
socket.alpha_s 5.323e-7
socket.beta_s_per_byte 3.109e-10
socket.eager_bytes 7999
socket.rendezvous_alpha_s 1.666e-6
socket.rendezvous_beta_s_per_byte 1.600e-10
gamma_s_per_byte 1.444e-9
copy_s_per_byte 0
end
